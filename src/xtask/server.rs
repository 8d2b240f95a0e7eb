//! A small static server for dist/, on loopback only, with the headers that the page is published with.

use crate::Result;
use crate::run::say;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The four headers of a page that may use threads, embedded or not. `Trunk.toml` sends the same.
pub const ISOLATION: [(&str, &str); 4] = [
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
    ("Cross-Origin-Resource-Policy", "cross-origin"),
    ("Document-Isolation-Policy", "isolate-and-require-corp"),
];

/// Longest request head that is read.
const LONGEST_HEAD: u64 = 16 * 1024;

/// Longest body that is read: the replies of `cargo xtask golden`.
const LONGEST_BODY: u64 = 256 << 20;

/// Answers what is no file: method, path and body in, the bytes of the answer out.
pub type Extra = Box<dyn Fn(&str, &str, &[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// A folder and how it is served.
pub struct Site {
    folder: PathBuf,
    isolated: bool,
    extra: Option<Extra>,
    /// The path that stands for the folder: `/`, or `/some/where/`.
    under: String,
}

/// Opens a port on loopback; 0 takes any free one.
pub fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| {
        format!(
            "cannot listen on 127.0.0.1:{port}: {e}. Try another --port, or 0 for any free one."
        )
    })
}

impl Site {
    /// `under`: the path the site lies under, as on a web space shared with others; none for the root.
    pub fn new(folder: PathBuf, isolated: bool, under: Option<&str>) -> Result<Self> {
        let folder = folder
            .canonicalize()
            .map_err(|e| format!("cannot serve {}: {e}.", folder.display()))?;
        let inner = under.unwrap_or_default().trim_matches('/');
        let under = if inner.is_empty() {
            "/".to_owned()
        } else {
            format!("/{inner}/")
        };
        Ok(Self {
            folder,
            isolated,
            extra: None,
            under,
        })
    }

    /// The same site, where `extra` is asked before the files.
    #[cfg(feature = "golden")]
    pub fn answering(self, extra: Extra) -> Self {
        Self {
            extra: Some(extra),
            ..self
        }
    }

    /// What is served.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the site is to be found.
    pub fn address(&self, listener: &TcpListener) -> Result<String> {
        let address = listener
            .local_addr()
            .map_err(|e| format!("the server has no address: {e}."))?;
        Ok(format!("http://{address}{}", self.under))
    }

    /// Serves until the process ends.
    pub fn serve(self, listener: TcpListener) -> Result {
        let site = Arc::new(self);
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            let site = Arc::clone(&site);
            std::thread::spawn(move || {
                // A browser that goes away in the middle is no error of ours.
                let _ = site.talk(&stream);
            });
        }
        Ok(())
    }

    /// Serves in the background and returns the address.
    pub fn start(self) -> Result<String> {
        let listener = listen(0)?;
        let address = self.address(&listener)?;
        std::thread::spawn(move || {
            if let Err(why) = self.serve(listener) {
                say(&why);
            }
        });
        Ok(address)
    }

    /// Answers the requests of one connection, one after the other.
    fn talk(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some((method, target, length)) = read_head(&mut reader)? {
            let mut body = Vec::new();
            reader
                .by_ref()
                .take(length.min(LONGEST_BODY))
                .read_to_end(&mut body)?;
            let extra = self
                .extra
                .as_ref()
                .and_then(|extra| extra(&method, &target, &body));
            let answer = match extra {
                Some(bytes) => Answer::bytes(bytes),
                None => self.answer(&method, &target),
            };
            let mut head = format!(
                "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\n\
                 X-Content-Type-Options: nosniff\r\n",
                answer.status,
                answer.kind,
                answer.body.len()
            );
            if self.isolated {
                for (name, value) in ISOLATION {
                    head += &format!("{name}: {value}\r\n");
                }
            }
            if let Some(place) = answer.location {
                head += &format!("Location: {place}\r\n");
            }
            head += "\r\n";
            let mut bytes = head.into_bytes();
            if method != "HEAD" {
                bytes.extend_from_slice(&answer.body);
            }
            (&mut &*stream).write_all(&bytes)?;
        }
        Ok(())
    }

    fn answer(&self, method: &str, target: &str) -> Answer {
        if method != "GET" && method != "HEAD" {
            return Answer::text(
                "405 Method Not Allowed",
                "only GET and HEAD are answered here\n",
            );
        }
        let path = target.split(['?', '#']).next().unwrap_or_default();
        if path == "/" && self.under != "/" || format!("{path}/") == self.under {
            let mut answer = Answer::text("302 Found", "");
            answer.location = Some(self.under.clone());
            return answer;
        }
        let found = path
            .strip_prefix(&self.under)
            .and_then(|inner| self.file(inner));
        let Some(file) = found else {
            return Answer::text("404 Not Found", "not found\n");
        };
        match fs::read(&file) {
            Ok(body) => Answer {
                status: "200 OK",
                kind: mime(&file),
                body,
                location: None,
            },
            Err(_) => Answer::text("404 Not Found", "not found\n"),
        }
    }

    /// The file for a path inside the site, never one outside the folder.
    fn file(&self, inner: &str) -> Option<PathBuf> {
        let decoded = percent_decode(inner)?;
        let relative = Path::new(&decoded);
        let is_plain = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !is_plain {
            return None;
        }
        let mut path = self.folder.join(relative);
        if path.is_dir() {
            path = path.join("index.html");
        }
        // Links that lead out are not followed either.
        let path = path.canonicalize().ok()?;
        path.starts_with(&self.folder).then_some(path)
    }
}

struct Answer {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
    location: Option<String>,
}

impl Answer {
    fn bytes(body: Vec<u8>) -> Self {
        Self {
            status: "200 OK",
            kind: "application/octet-stream",
            body,
            location: None,
        }
    }

    fn text(status: &'static str, text: &str) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            body: text.into(),
            location: None,
        }
    }
}

/// Method, target and length of the body of the next request; nothing when the other side is done.
fn read_head(reader: &mut BufReader<&TcpStream>) -> std::io::Result<Option<(String, String, u64)>> {
    let mut head = reader.take(LONGEST_HEAD);
    let mut first = String::new();
    if head.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let request = words.next().zip(words.next());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line.trim_end().is_empty() {
            return Ok(request.map(|(method, target)| (method, target, length)));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let pair = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&pair).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A module worker or a wasm stream with the wrong type does not start at all.
fn mime(file: &Path) -> &'static str {
    let extension = file
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    match extension {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "md" | "txt" | "ftl" | "csv" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(under: Option<&str>) -> Site {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
        Site::new(folder, true, under).unwrap()
    }

    #[test]
    fn nothing_outside_the_folder_is_served() {
        let site = site(None);
        assert_eq!(site.answer("GET", "/main.rs").status, "200 OK");
        for path in [
            "/../page/main.rs",
            "/%2e%2e/page/main.rs",
            "//etc/passwd",
            "/%2Fetc/passwd",
            "/%zz",
        ] {
            assert_eq!(site.answer("GET", path).status, "404 Not Found", "{path}");
        }
    }

    #[test]
    fn a_site_may_lie_under_a_path() {
        let site = site(Some("course/week3"));
        assert_eq!(
            site.answer("GET", "/course/week3/main.rs?x=1").status,
            "200 OK"
        );
        assert_eq!(site.answer("GET", "/main.rs").status, "404 Not Found");
        let answer = site.answer("GET", "/course/week3");
        assert_eq!(answer.location.as_deref(), Some("/course/week3/"));
    }

    #[test]
    fn every_answer_is_isolated_and_typed() {
        let address = site(None).start().unwrap();
        let host = address.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(host).unwrap();
        // Two requests over one connection.
        stream
            .write_all(b"HEAD /main.rs HTTP/1.1\r\n\r\nGET /none HTTP/1.1\r\n\r\n")
            .unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        assert!(said.starts_with("HTTP/1.1 200 OK"), "{said}");
        assert!(said.contains("HTTP/1.1 404 Not Found"), "{said}");
        for (name, value) in ISOLATION {
            assert_eq!(
                said.matches(&format!("{name}: {value}\r\n")).count(),
                2,
                "{name}"
            );
        }
        assert_eq!(mime(Path::new("engine_bg.wasm")), "application/wasm");
    }
}
