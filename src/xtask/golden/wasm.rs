//! The WebAssembly side of `cargo xtask golden`: the real worker and engines in a headless browser.
//!
//! A page of its own (tests/golden-page) fetches the encoded jobs, gives them to the worker one by one and posts the
//! replies back; then it does the same with attention.js, which has the float32 gradients. No driver is needed: the page knows what to do, and the browser is ended when it is done.

use super::THREADS;
use super::call;
use super::cases::Case;
use super::native::Computed;
use crate::browsers::{self, Engine};
use crate::run::{say, timed};
use crate::server::Site;
use crate::{Result, engines, home, setup};
use protocol::{Frame, Job, KernelJob, Numbers, Reply, Revision, StagesJob, Variant};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The longest that one job, or the start of an engine, may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// The builds that are asked, by the folders of attention.js. The engine without threads comes in two halves: all stages
/// at once, and float32, are in `proof`.
const VARIANTS: [&str; 2] = ["simd", "simd-threads"];
/// Jobs of each case: the float32 path, the oracle.
const JOBS: usize = 2;

/// What one variant of the engine computed.
pub struct Answers {
    /// As its folder is called.
    pub name: &'static str,
    /// One for each case.
    pub cases: Vec<Answer>,
}

/// What attention.js computed in one variant: of each case that it can be asked for, its number and its tensors.
pub struct Gradients {
    /// As the variant's folder is called.
    pub name: &'static str,
    /// In the order of the cases.
    pub cases: Vec<(usize, Computed)>,
}

/// Everything that the browser computed.
pub struct All {
    /// By the engine.
    pub engine: Vec<Answers>,
    /// By attention.js.
    pub exports: Vec<Gradients>,
}

/// What it computed for one case.
pub struct Answer {
    /// The oracle, float64.
    pub stages: Computed,
    /// The float32 path.
    pub kernel: Computed,
}

/// Runs every case in every variant of engine and exports. Fails where one does not start or the page falls silent.
pub fn run(cases: &[Case]) -> Result<All> {
    let root = home::root()?;
    let kit = setup::for_builds()?;
    engines::ensure(&kit)?;
    browsers::install(&[Engine::Chromium])?;
    let programs = browsers::programs(Engine::Chromium, &root)?;
    let chrome = programs.into_iter().find(|(name, _)| *name == "CHROME");
    let (_, chrome) = chrome.ok_or("there is no Chromium among its programs.")?;
    let folder = page(&root)?;
    let jobs: Vec<Vec<u8>> = cases
        .iter()
        .enumerate()
        .flat_map(|(at, case)| jobs(at, case))
        .collect();
    let count = jobs.len();
    let calls: Vec<(usize, Vec<u8>)> = cases
        .iter()
        .enumerate()
        .filter_map(|(at, case)| Some((at, call::call(case)?.to_string().into_bytes())))
        .collect();
    let asked: Vec<usize> = calls.iter().map(|(at, _)| *at).collect();
    let (news, said) = channel();
    let address = Site::new(folder, true, None)?
        .answering(answers(jobs, calls, news))
        .start()?;
    let profile = home::target(&root).join(format!("golden-browser-{}", std::process::id()));
    let browser = Browser::open(&chrome, profile, &address)?;
    let variants = timed("reference cases in the browser", || {
        listen(&said, count, cases, &asked)
    });
    drop(browser);
    variants
}

/// The page beside the worker and the engines, as they lie in dist/.
fn page(root: &Path) -> Result<PathBuf> {
    let folder = home::target(root).join("golden-page");
    home::remove(&folder)?;
    home::copy(&root.join("tests/golden-page"), &folder)?;
    home::make_folder(&folder.join("www"))?;
    for script in [
        "engine-worker.js",
        "attention.js",
        "attention-cache.js",
        "attention-call.js",
        "attention-core.js",
        "attention-long.js",
        "attention-worker.js",
    ] {
        let script = Path::new("www").join(script);
        home::copy(&root.join(&script), &folder.join(&script))?;
    }
    for product in [&engines::ENGINE, &engines::EXPORTS] {
        for variant in product.variants {
            let name = match variant.name {
                "proof" => "simd",
                "simd" if product.folder == engines::ENGINE.folder => continue,
                name => name,
            };
            home::copy(
                &engines::folder(root, product, variant),
                &folder.join(product.folder).join(name),
            )?;
        }
    }
    Ok(folder)
}

fn jobs(at: usize, case: &Case) -> [Vec<u8>; JOBS] {
    let numbers = Numbers::Given {
        q: case.q.clone(),
        k: case.k.clone(),
        v: case.v.clone(),
    };
    let revision = |n: usize| Revision((at * JOBS + n + 1) as u64);
    let kernel = KernelJob {
        revision: revision(0),
        config: case.config.clone(),
        numbers: numbers.clone(),
    };
    let stages = StagesJob {
        revision: revision(1),
        config: case.config.clone(),
        numbers,
        d_out: case.d_out.clone(),
    };
    [Job::Kernel(kernel), Job::Stages(stages)].map(|job| job.into_frame().to_bytes())
}

/// What the page posts.
enum News {
    /// A reply; the first of each variant, number 0, is its `Ready`.
    Reply {
        variant: String,
        at: usize,
        bytes: Vec<u8>,
    },
    /// What attention.js gave, tensor after tensor.
    Gradients {
        variant: String,
        at: usize,
        bytes: Vec<u8>,
    },
    Failed(String),
    Done,
}

/// How the server answers the page beyond its files.
fn answers(
    jobs: Vec<Vec<u8>>,
    calls: Vec<(usize, Vec<u8>)>,
    news: Sender<News>,
) -> crate::server::Extra {
    Box::new(move |method, path, body| {
        // Nobody listens any more after a failure; the page then talks to itself until it is closed.
        let tell = |what| drop(news.send(what));
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        match (method, parts.as_slice()) {
            ("GET", ["plan.json"]) => {
                let names = VARIANTS.map(|name| format!("\"{name}\"")).join(",");
                let plan = format!(
                    "{{\"variants\":[{names}],\"threads\":{THREADS},\"jobs\":{},\"calls\":{}}}",
                    jobs.len(),
                    calls.len()
                );
                return Some(plan.into_bytes());
            }
            ("GET", ["job", at]) => return jobs.get(at.parse::<usize>().ok()?).cloned(),
            ("GET", ["call", at]) => return Some(calls.get(at.parse::<usize>().ok()?)?.1.clone()),
            ("POST", ["gradients", variant, at]) => tell(News::Gradients {
                variant: (*variant).to_owned(),
                at: at.parse().ok()?,
                bytes: body.to_vec(),
            }),
            ("POST", ["reply", variant, at]) => {
                let at = at.parse().ok()?;
                tell(News::Reply {
                    variant: (*variant).to_owned(),
                    at,
                    bytes: body.to_vec(),
                });
            }
            ("POST", ["failed"]) => tell(News::Failed(String::from_utf8_lossy(body).into_owned())),
            ("POST", ["done"]) => tell(News::Done),
            _ => return None,
        }
        Some(Vec::new())
    })
}

/// Collects the replies, variant by variant, job by job. `asked`: the cases that attention.js was asked for.
fn listen(said: &Receiver<News>, jobs: usize, cases: &[Case], asked: &[usize]) -> Result<All> {
    let mut replies: Vec<Vec<Reply>> = VARIANTS.iter().map(|_| Vec::new()).collect();
    let mut exports = VARIANTS.map(|name| Gradients {
        name,
        cases: Vec::new(),
    });
    loop {
        let (variant, at, bytes) = match said.recv_timeout(PATIENCE) {
            Ok(News::Reply { variant, at, bytes }) => (variant, at, bytes),
            Ok(News::Gradients { variant, at, bytes }) => {
                let due = exports
                    .iter_mut()
                    .find(|e| e.name == variant && e.cases.len() == at);
                let case = asked.get(at).and_then(|&at| Some((at, cases.get(at)?)));
                let (due, (at, case)) = due
                    .zip(case)
                    .ok_or("the page sent gradients that are not due.")?;
                due.cases.push((at, floats(case, &bytes)));
                continue;
            }
            Ok(News::Failed(why)) => return Err(format!("the page with the engines: {why}")),
            Ok(News::Done) => break,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                return Err(format!(
                    "the browser has said nothing for {} s.",
                    PATIENCE.as_secs()
                ));
            }
        };
        let slot = VARIANTS
            .iter()
            .position(|name| *name == variant)
            .and_then(|v| replies.get_mut(v));
        let slot = slot
            .filter(|s| s.len() == at)
            .ok_or("the page sent a reply that is not due.")?;
        let reply = Frame::from_bytes(&bytes)
            .and_then(Reply::from_frame)
            .map_err(|e| e.to_string())?;
        if at == 0 {
            say(&started(&variant, &reply)?);
        }
        slot.push(reply);
    }
    if let Some(short) = exports.iter().find(|e| e.cases.len() != asked.len()) {
        return Err(format!(
            "attention.js {}: {} answers to {} calls.",
            short.name,
            short.cases.len(),
            asked.len()
        ));
    }
    let engine: Result<_> = VARIANTS
        .iter()
        .zip(replies)
        .map(|(name, replies)| collect(name, replies, jobs))
        .collect();
    Ok(All {
        engine: engine?,
        exports: exports.into(),
    })
}

/// The tensors that lie one after the other in `bytes`, as float32.
fn floats(case: &Case, bytes: &[u8]) -> Computed {
    let (numbers, rest) = bytes.as_chunks::<4>();
    let expected: usize = call::results(case).iter().map(|(_, length)| length).sum();
    if numbers.len() != expected || !rest.is_empty() {
        return Err(format!(
            "{expected} numbers expected, {} computed",
            numbers.len()
        ));
    }
    let mut numbers = numbers.iter().map(|&b| f64::from(f32::from_le_bytes(b)));
    let take =
        |(name, length): (&str, usize)| (name.to_owned(), numbers.by_ref().take(length).collect());
    Ok(call::results(case).into_iter().map(take).collect())
}

/// The engine that was asked for, with the threads that were asked for, and no other.
fn started(variant: &str, reply: &Reply) -> Result<String> {
    let (expected, threads) = match variant {
        "simd-threads" => (Variant::SimdThreads, THREADS),
        _ => (Variant::Simd, 1),
    };
    match reply {
        Reply::Ready(ready) if ready.variant == expected && ready.threads == threads => Ok(
            format!("engine {variant} runs in the browser, threads: {threads}"),
        ),
        other => Err(format!(
            "engine {variant} with {threads} threads was asked for; it said {other:?}."
        )),
    }
}

fn collect(name: &'static str, replies: Vec<Reply>, jobs: usize) -> Result<Answers> {
    if replies.len() != jobs + 1 {
        return Err(format!(
            "engine {name}: {} replies to {jobs} jobs.",
            replies.len().saturating_sub(1)
        ));
    }
    let mut tensors = replies.into_iter().skip(1).map(tensors);
    let mut cases = Vec::new();
    while let (Some(kernel), Some(stages)) = (tensors.next(), tensors.next()) {
        cases.push(Answer { stages, kernel });
    }
    Ok(Answers { name, cases })
}

fn tensors(reply: Reply) -> Computed {
    match reply {
        Reply::Kernel(k) => Ok(vec![("out".into(), k.out), ("lse".into(), k.lse)]),
        Reply::Stages(s) => Ok(s.names.into_iter().zip(s.tensors).collect()),
        Reply::Refused(refusal) => Err(refusal.message),
        other => Err(format!("an answer of another kind: {other:?}")),
    }
}

/// A browser of our own with a profile of its own, both gone with this value.
struct Browser {
    child: Child,
    profile: PathBuf,
}

impl Browser {
    fn open(program: &Path, profile: PathBuf, address: &str) -> Result<Browser> {
        let mut command = Command::new(program);
        command
            .args([
                "--headless=new",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let is_root = crate::run::ask(Command::new("id").arg("-u")).is_some_and(|id| id == "0");
        if is_root {
            // Chromium refuses its sandbox to root.
            command.arg("--no-sandbox");
        }
        match command.spawn() {
            Ok(child) => Ok(Browser { child, profile }),
            Err(e) => Err(format!("cannot start {}: {e}.", program.display())),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Its helpers follow within a moment, and until then write into the profile.
        for _ in 0..50 {
            if home::remove(&self.profile).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
