//! Compressed neighbours of files, and the zip.

use crate::{Result, home};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// Files by their names, with `/` on every machine, sorted.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What compression makes smaller; fonts in woff2 and pictures in png are compressed already.
const COMPRESSIBLE: [&str; 12] = [
    "bin",
    "css",
    "ftl",
    "html",
    "js",
    "json",
    "md",
    "mjs",
    "safetensors",
    "svg",
    "txt",
    "wasm",
];

/// The SHA-256 of bytes, in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Whether a file gets compressed neighbours. Hosts read `_headers` themselves.
pub fn is_compressible(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| COMPRESSIBLE.contains(&e))
}

/// The same files with `.br` and `.gz` beside each that gains by it. What was compressed once is kept in `cache`.
pub fn compress(files: &Files, cache: &Path) -> Result<Files> {
    let left: Mutex<Vec<(&String, &Vec<u8>)>> =
        Mutex::new(files.iter().filter(|(n, _)| is_compressible(n)).collect());
    let done = Mutex::new(Ok(files.clone()));
    let work = || {
        while let Some((name, bytes)) = left.lock().ok().and_then(|mut left| left.pop()) {
            let packed = kept(cache, bytes, "br", brotli).and_then(|br| {
                let gz = kept(cache, bytes, "gz", gzip)?;
                Ok([("br", br), ("gz", gz)])
            });
            let Ok(mut done) = done.lock() else { return };
            match (&mut *done, packed) {
                (Ok(done), Ok(packed)) => {
                    for (ending, small) in packed {
                        if small.len() < bytes.len() {
                            done.insert(format!("{name}.{ending}"), small);
                        }
                    }
                }
                (done, Err(why)) => *done = Err(why),
                (Err(_), Ok(_)) => return,
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    done.into_inner()
        .map_err(|_| "a thread that compressed files stopped. Try again.".to_owned())?
}

fn kept(
    cache: &Path,
    bytes: &[u8],
    ending: &str,
    pack: fn(&[u8]) -> std::io::Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let path = cache.join(format!("{}.{ending}", hash(bytes)));
    if let Ok(known) = std::fs::read(&path) {
        return Ok(known);
    }
    let packed = pack(bytes).map_err(|e| format!("cannot compress as .{ending}: {e}."))?;
    // Whole or not there: a run that is ended half way leaves nothing that a later one takes for good.
    let fresh = path.with_extension(format!("{ending}.new"));
    home::write(&fresh, &packed)?;
    std::fs::rename(&fresh, &path).map_err(|e| format!("cannot move {}: {e}.", fresh.display()))?;
    Ok(packed)
}

fn brotli(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 24,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut packed, &params)?;
    Ok(packed)
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    // No name and no time in its head: the same bytes give the same file.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The files under `folder` in a zip: the same files give the same bytes, on every machine and at any time.
pub fn zip(folder: &str, files: &Files) -> Result<Vec<u8>> {
    let fail = |e: &dyn std::fmt::Display| format!("cannot write the zip: {e}.");
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let method = if is_compressible(name) || !name.contains('.') {
            zip::CompressionMethod::Deflated
        } else {
            zip::CompressionMethod::Stored
        };
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(method)
            // 1980-01-01, the first moment that the format knows.
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(0o644);
        zip.start_file(format!("{folder}/{name}"), options)
            .map_err(|e| fail(&e))?;
        zip.write_all(bytes).map_err(|e| fail(&e))?;
    }
    zip.finish()
        .map(std::io::Cursor::into_inner)
        .map_err(|e| fail(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn files() -> Files {
        let text = "words and words and words, ".repeat(200).into_bytes();
        let noise: Vec<u8> = (0..4000u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        Files::from([
            ("b/a.js".to_owned(), text.clone()),
            ("a.txt".to_owned(), text),
            ("font.woff2".to_owned(), noise),
            ("tiny.json".to_owned(), b"1".to_vec()),
        ])
    }

    #[test]
    fn compressed_neighbours_hold_the_same_bytes_and_come_from_the_cache_the_second_time() {
        let cache = std::env::temp_dir().join(format!("packed-{}", std::process::id()));
        let files = files();
        let packed = compress(&files, &cache).unwrap();
        let names: Vec<&str> = packed.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "a.txt",
                "a.txt.br",
                "a.txt.gz",
                "b/a.js",
                "b/a.js.br",
                "b/a.js.gz",
                "font.woff2",
                "tiny.json"
            ]
        );
        let mut plain = Vec::new();
        brotli::BrotliDecompress(&mut packed["a.txt.br"].as_slice(), &mut plain).unwrap();
        assert_eq!(plain, files["a.txt"]);
        plain.clear();
        flate2::read::GzDecoder::new(packed["b/a.js.gz"].as_slice())
            .read_to_end(&mut plain)
            .unwrap();
        assert_eq!(plain, files["b/a.js"]);
        let key = cache.join(format!("{}.br", hash(&files["a.txt"])));
        home::write(&key, b"kept").unwrap();
        assert_eq!(compress(&files, &cache).unwrap()["a.txt.br"], b"kept");
        home::remove(&cache).unwrap();
    }

    #[test]
    fn the_zip_is_the_same_each_time_and_holds_what_it_should() {
        let files = files();
        let bytes = zip("lab", &files).unwrap();
        assert_eq!(bytes, zip("lab", &files).unwrap());
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        assert_eq!(archive.len(), files.len());
        for (name, wanted) in &files {
            let mut entry = archive.by_name(&format!("lab/{name}")).unwrap();
            let mut got = Vec::new();
            entry.read_to_end(&mut got).unwrap();
            assert_eq!(&got, wanted, "{name}");
            assert_eq!(entry.last_modified().unwrap().year(), 1980);
        }
    }
}
