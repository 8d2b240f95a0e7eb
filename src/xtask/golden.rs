//! `cargo xtask golden [DIR] [--native-only]`: reference cases through every path.
//!
//! Prints one line for each case, path and stage: the largest error, what it may be, and `ok` or `FAIL`.

mod call;
pub mod cases;
mod compare;
mod native;
mod options;
mod wasm;

use crate::{Result, home, no_more, take_flag};
use cases::Case;
use compare::{Precision, Verdict, compare};
use native::Computed;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The folder that is read where none is named.
const DEFAULT: &str = "tests/golden";
/// As many as a common reader's machine has; more than the machines that test this.
pub const THREADS: usize = 4;

/// Reads the folder and checks every case. Fails where a case does, or cannot be understood.
pub fn command(args: &[String]) -> Result {
    let mut args = args.to_vec();
    let native_only = take_flag(&mut args, "--native-only");
    let folder = match args.first() {
        Some(_) => PathBuf::from(args.remove(0)),
        None => home::root()?.join(DEFAULT),
    };
    no_more(&args)?;
    let cases = cases::read(&folder)?;
    let mut report = Report::default();
    let single = run_native(&cases, &mut report);
    if !native_only {
        let answers = wasm::run(&cases)?;
        for variant in &answers.engine {
            report.wasm(&cases, &single, variant);
        }
        for variant in &answers.exports {
            report.exports(&cases, &single, variant);
        }
    }
    report.finish(cases.len())
}

/// The paths without a browser. Returns what the float32 path gave on one thread: all others must give the same bits.
fn run_native(cases: &[Case], report: &mut Report) -> Vec<Computed> {
    cases
        .iter()
        .map(|case| {
            report.check(
                case,
                "float64 native",
                Precision::F64,
                &native::oracle(case),
            );
            let single = native::fast(case);
            report.check(case, "float32 native", Precision::F32, &single);
            let path = format!("float32 native, {THREADS} threads");
            let several = native::fast_threads(case, THREADS);
            report.check(case, &path, Precision::F32, &several);
            report.same_bits(case, &path, &single, &several);
            single
        })
        .collect()
}

#[derive(Default)]
struct Report {
    lines: usize,
    failed: usize,
}

impl Report {
    fn line(&mut self, case: &Case, path: &str, stage: &str, ok: bool, what: &str) {
        self.lines += 1;
        self.failed += usize::from(!ok);
        let verdict = if ok { "ok" } else { "FAIL" };
        println!(
            "{:<26} {path:<35} {stage:<9} {verdict:<4}  {what}",
            case.name
        );
    }

    /// Every stage that the reference has and the path gives. Where the oracle lacks one it is a failure.
    fn check(&mut self, case: &Case, path: &str, precision: Precision, computed: &Computed) {
        let tensors = match computed {
            Ok(tensors) => tensors,
            Err(why) => return self.line(case, path, "", false, why),
        };
        for (stage, expected) in &case.expected {
            match tensors.iter().find(|(name, _)| name == stage) {
                Some((_, got)) => match compare(case, precision, stage, got, expected) {
                    Ok(v) => self.line(
                        case,
                        path,
                        stage,
                        v.ok(),
                        &describe(case, stage, expected.len(), &v),
                    ),
                    Err(why) => self.line(case, path, stage, false, &why),
                },
                None if precision == Precision::F64 => {
                    self.line(
                        case,
                        path,
                        stage,
                        false,
                        "is in the reference and was not computed",
                    );
                }
                None => {}
            }
        }
    }

    fn same_bits(&mut self, case: &Case, path: &str, one: &Computed, other: &Computed) {
        let (Ok(one), Ok(other)) = (one, other) else {
            return self.line(case, path, "bits", false, "nothing to compare");
        };
        for (stage, b) in other {
            let a = one.iter().find(|(name, _)| name == stage);
            let Some((_, a)) = a else {
                self.line(case, path, stage, false, "nothing to compare");
                continue;
            };
            let what = match native::first_difference(a, b) {
                None => "the same as native, one thread".to_owned(),
                Some(at) => format!(
                    "{:?} at {at}, native on one thread {:?}",
                    b.get(at),
                    a.get(at)
                ),
            };
            let ok = native::first_difference(a, b).is_none();
            self.line(case, path, &format!("{stage} bits"), ok, &what);
        }
    }

    fn wasm(&mut self, cases: &[Case], single: &[Computed], variant: &wasm::Answers) {
        for ((case, single), answer) in cases.iter().zip(single).zip(&variant.cases) {
            self.check(
                case,
                &format!("float64 wasm {}", variant.name),
                Precision::F64,
                &answer.stages,
            );
            let path = format!("float32 wasm {}", variant.name);
            self.check(case, &path, Precision::F32, &answer.kernel);
            self.same_bits(case, &path, single, &answer.kernel);
        }
    }

    /// attention.js: what it gives of each case, in both variants.
    fn exports(&mut self, cases: &[Case], single: &[Computed], variant: &wasm::Gradients) {
        let path = format!("float32 attention.js {}", variant.name);
        for (at, computed) in &variant.cases {
            let (Some(case), Some(single)) = (cases.get(*at), single.get(*at)) else {
                continue;
            };
            self.check(case, &path, Precision::F32, computed);
            self.same_bits(case, &path, single, computed);
        }
    }

    fn finish(&self, cases: usize) -> Result {
        let said = format!("{cases} cases, {} checks", self.lines);
        if self.lines == 0 {
            return Err("no case was checked: the folder lists none.".into());
        }
        if self.failed > 0 {
            return Err(format!("{said}: {} FAIL.", self.failed));
        }
        println!("{said}: all ok");
        Ok(())
    }
}

fn describe(case: &Case, stage: &str, length: usize, v: &Verdict) -> String {
    let mut text = format!("error {:.1e} of {:.1e}", v.error, v.limit);
    let heads = case.config.shape.heads;
    if stage == "out" && heads > 1 {
        let _ = write!(text, " (head {})", v.at * heads / length);
    }
    if !v.ok() {
        let _ = write!(
            text,
            ": expected {:e}, got {:e} at {}",
            v.expected, v.got, v.at
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::npz;

    /// `out` of tests/minilm was computed before q, k and v were rounded; coreference-exact.npz has it from what is there.
    #[test]
    fn the_oracle_reproduces_real_heads_to_the_last_digits() {
        let folder = home::root().unwrap().join("tests/minilm");
        let exact =
            npz::parse(&std::fs::read(folder.join("coreference-exact.npz")).unwrap()).unwrap();
        let exact = exact[0].data.to_f64();
        let cases = cases::read(&folder).unwrap();
        assert_eq!(cases.len(), 2);
        for (case, exact) in cases.iter().zip(exact.chunks(exact.len() / 2)) {
            let got = native::oracle(case).unwrap();
            let (_, out) = got.iter().find(|(stage, _)| stage == "out").unwrap();
            let worst = out
                .iter()
                .zip(exact)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(
                out.len() == exact.len() && worst < 1e-13,
                "{}: {worst:e}",
                case.name
            );
        }
    }
}
