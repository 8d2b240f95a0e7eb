use super::*;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(FOLDER)
}

fn index_file() -> Index {
    read_index(&std::fs::read_to_string(folder().join("index.json")).unwrap()).unwrap()
}

#[test]
fn every_file_of_the_index_is_there_and_reads() {
    let index = index_file();
    assert!(index.sentences.len() >= 3);
    for sentence in &index.sentences {
        assert_eq!(sentence.tokens.len(), sentence.n, "{}", sentence.name);
        assert_eq!(sentence.layers.len(), index.layers, "{}", sentence.name);
        for (layer, file) in sentence.layers.iter().enumerate() {
            let bytes = std::fs::read(folder().join(&file.file)).unwrap();
            assert_eq!(bytes.len(), file.bytes, "{}", file.file);
            let read = read_layer(&bytes, &index, sentence, layer).unwrap();
            assert_eq!(read.q.len(), index.heads * sentence.n * index.d);
        }
        // The opening head by itself is that head of its layer.
        let opening = &sentence.opening;
        let bytes = std::fs::read(folder().join(&opening.file)).unwrap();
        assert_eq!(bytes.len(), opening.bytes, "{}", opening.file);
        let alone = read_opening(&bytes, &index, sentence).unwrap();
        let whole = std::fs::read(folder().join(&sentence.layers[opening.layer].file)).unwrap();
        let whole = read_layer(&whole, &index, sentence, opening.layer).unwrap();
        let cells = sentence.n * index.d;
        let head = opening.head * cells..(opening.head + 1) * cells;
        for (a, b) in [
            (&alone.q, &whole.q),
            (&alone.k, &whole.k),
            (&alone.v, &whole.v),
        ] {
            assert_eq!(a.len(), b.len());
            assert_eq!(a[head.clone()], b[head.clone()]);
        }
        let bytes = std::fs::read(folder().join(&sentence.maps.file)).unwrap();
        assert_eq!(bytes.len(), sentence.maps.bytes);
        read_maps(bytes, &index, sentence).unwrap();
    }
}

#[test]
fn suggestions_lie_inside_their_sentence() {
    let index = index_file();
    for sentence in &index.sentences {
        assert!(!sentence.suggested.is_empty(), "{}", sentence.name);
        for s in &sentence.suggested {
            assert!(
                s.layer < index.layers
                    && s.head < index.heads
                    && s.row < sentence.n
                    && s.key < sentence.n
            );
            assert!(!s.why.is_empty());
        }
    }
}

#[test]
fn maps_hold_weights() {
    let index = index_file();
    let sentence = index.sentence("coreference").unwrap();
    let bytes = std::fs::read(folder().join(&sentence.maps.file)).unwrap();
    let maps = read_maps(bytes, &index, sentence).unwrap();
    // Where a cell is one pair, a row sums to 1 up to the rounding of a byte.
    for layer in 0..maps.layers {
        for head in 0..maps.heads {
            for row in 0..maps.side {
                let sum: f64 = (0..maps.side)
                    .map(|col| maps.weight(layer, head, row, col))
                    .sum();
                assert!(
                    (sum - 1.0).abs() < 0.05,
                    "layer {layer}, head {head}, row {row}: {sum}"
                );
            }
        }
    }
    assert_eq!(maps.weight(99, 0, 0, 0), 0.0);
}

#[test]
fn damaged_files_are_sentences() {
    let index = index_file();
    let sentence = &index.sentences[0];
    assert!(
        read_index("<!doctype html>")
            .unwrap_err()
            .contains("index.json")
    );
    assert!(read_index("{}").unwrap_err().contains("index.json"));
    let file = &sentence.layers[0].file;
    assert!(
        read_layer(b"", &index, sentence, 0)
            .unwrap_err()
            .contains(file)
    );
    let bytes = std::fs::read(folder().join(file)).unwrap();
    assert!(
        read_layer(&bytes[..bytes.len() / 2], &index, sentence, 0)
            .unwrap_err()
            .contains(file)
    );
    let other = &index.sentences[1];
    assert!(
        read_layer(&bytes, &index, other, 0)
            .unwrap_err()
            .contains("q [")
    );
    assert!(
        read_maps(vec![0; 7], &index, sentence)
            .unwrap_err()
            .contains('7')
    );
    assert!(
        known(&index, "nonsense")
            .unwrap_err()
            .contains("coreference")
    );
}

/// FNV-1a, 64 bits, over the bits of numbers: the browser suite works out the same.
fn fingerprint(numbers: &[f64]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in numbers.iter().flat_map(|x| x.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// What every browser has to show to the bit, in every setting: `tests/golden/opening.json`.
#[test]
fn the_opening_picture_has_the_bits_that_browsers_are_held_to() {
    let index = index_file();
    let sentence = index.sentence("coreference").unwrap();
    let bytes = std::fs::read(folder().join(&sentence.opening.file)).unwrap();
    let layer = Arc::new(read_opening(&bytes, &index, sentence).unwrap());
    let session = crate::session::Session::example(layer, sentence.opening.head);
    let trace = crate::labs::bench::inspector::fixture::trace_of(&session, 0, 0);
    let file = folder().join("../../../tests/golden/opening.json");
    let text = std::fs::read_to_string(file).unwrap();
    for (name, numbers) in [
        ("S", &trace.scores),
        ("A", &trace.weights),
        ("O", &trace.out),
    ] {
        let line = format!("\"{name}\": \"{}\"", fingerprint(numbers));
        assert!(text.contains(&line), "expected {line} in {text}");
    }
}
