//! `cargo xtask golden` as a command: what it prints and how it exits.
#![cfg(feature = "golden")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use formats::{Data, Tensor, safetensors};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn golden(folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("golden")
        .arg(folder)
        .arg("--native-only")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

/// One query that sees two equal keys: weights of a half, output 2. `change` may corrupt the reference.
fn folder(
    name: &str,
    options: &str,
    change: impl Fn(&mut Vec<(&str, Vec<usize>, Vec<f64>)>),
) -> PathBuf {
    let mut tensors = vec![
        ("q", vec![1, 1, 1], vec![1.0]),
        ("k", vec![1, 2, 1], vec![0.5, 0.5]),
        ("v", vec![1, 2, 1], vec![1.0, 3.0]),
        ("d_out", vec![1, 1, 1], vec![1.0]),
        ("scores", vec![1, 1, 2], vec![0.5, 0.5]),
        ("probs", vec![1, 1, 2], vec![0.5, 0.5]),
        ("out", vec![1, 1, 1], vec![2.0]),
        ("lse", vec![1, 1], vec![0.5 + 2_f64.ln()]),
        ("d_scores", vec![1, 1, 2], vec![-0.5, 0.5]),
    ];
    change(&mut tensors);
    let tensors: Vec<Tensor> = tensors
        .into_iter()
        .map(|(stage, shape, x)| Tensor::new(format!("pair/{stage}"), shape, Data::F64(x)).unwrap())
        .collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("golden.safetensors"),
        safetensors::write(&tensors),
    )
    .unwrap();
    let sizes = r#""name": "pair", "h": 1, "g": 1, "n_q": 1, "n_k": 2, "d_k": 1, "d_v": 1"#;
    std::fs::write(folder.join("cases.json"), format!("[{{{sizes}{options}}}]")).unwrap();
    folder
}

#[test]
fn a_right_case_is_ok_on_every_path_and_stage() {
    let output = golden(&folder("right", "", |_| {}));
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    // Five stages of the oracle, and of each float32 path output and log-sum-exp; then their bits, and those of three
    // gradients.
    assert_eq!(text.matches(" ok ").count(), 5 + 2 + 2 + 5, "{text}");
    for part in [
        "float64 native",
        "float32 native  ",
        "float32 native, 4 threads",
        "d_scores",
        "out bits",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_corrupted_number_fails_with_its_place() {
    for (stage, at) in [("out", 0), ("probs", 1), ("lse", 0), ("d_scores", 1)] {
        let output = golden(&folder(&format!("corrupted-{stage}"), "", |tensors| {
            let tensor = tensors.iter_mut().find(|t| t.0 == stage).unwrap();
            tensor.2[at] += 1e-4;
        }));
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{stage}: {text}");
        let line = text
            .lines()
            .find(|l| l.contains(" FAIL "))
            .unwrap_or_else(|| panic!("{text}"));
        assert!(
            line.contains(stage) && line.ends_with(&format!("at {at}")),
            "{line}"
        );
        assert!(text.contains("FAIL."), "{text}");
    }
}

#[test]
fn nan_in_the_reference_agrees_with_nothing() {
    let output = golden(&folder("nan", "", |tensors| tensors[6].2[0] = f64::NAN));
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

#[test]
fn an_unknown_option_is_refused() {
    let output = golden(&folder("unknown", r#", "dropout": 0.1"#, |_| {}));
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("case \"pair\": the option dropout (0.1) is not known"),
        "{text}"
    );
}

#[test]
fn an_option_that_cannot_be_is_a_failure_of_its_case() {
    let text = said(&golden(&folder(
        "square",
        r#", "causal": "square""#,
        |_| {},
    )));
    assert!(text.contains("FAIL"), "{text}");
}

#[test]
fn a_missing_tensor_or_folder_is_refused() {
    let output = golden(&folder("missing", "", |tensors| {
        tensors.remove(0);
    }));
    assert!(
        said(&output).contains("no tensor pair/q"),
        "{}",
        said(&output)
    );
    let output = golden(Path::new("no/such/folder"));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("neither cases.json nor tokens.json"),
        "{}",
        said(&output)
    );
}

#[test]
fn the_heads_of_a_real_model_are_reproduced() {
    let output = golden(&repository().join("tests/minilm"));
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    // Of each of two cases the output on three paths, and the bits of output, log-sum-exp and three gradients.
    assert_eq!(text.matches(" ok ").count(), 2 * (3 + 5), "{text}");
}
