//! Files written by the formats' own libraries, and damaged ones.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use formats::{ALL, Data, Tensor, csv, json, npy, npz, read, safetensors};
use proptest::prelude::*;

macro_rules! data {
    ($name:literal) => {
        include_bytes!(concat!("data/", $name)).as_slice()
    };
}

/// 0, 1, … 5 as [2, 3], divided by 4, less a half: what make.py writes.
const X: [f64; 6] = [-0.5, -0.25, 0.0, 0.25, 0.5, 0.75];

fn npy_of(bytes: &[u8]) -> Tensor {
    npy::parse(bytes, "x").unwrap_or_else(|e| panic!("{e}"))
}

fn named<'a>(tensors: &'a [Tensor], name: &str) -> &'a Tensor {
    tensors
        .iter()
        .find(|t| t.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn numpy_arrays() {
    let t = npy_of(data!("float64.npy"));
    assert_eq!(
        (t.shape.as_slice(), t.data.clone()),
        ([2, 3].as_slice(), Data::F64(X.to_vec()))
    );
    let t = npy_of(data!("float16.npy"));
    let halves = [1.0, -2.0, 0.5, 65504.0, 2_f64.powi(-24), 0.0, f64::INFINITY];
    assert_eq!(
        (t.data.kind(), t.data.to_f64()),
        ("float16", halves.to_vec())
    );
    assert!(t.finite().unwrap_err().to_string().contains("inf at [6]"));
    let t = npy_of(data!("big-endian.npy"));
    assert_eq!((t.data.kind(), t.data.to_f64()), ("float32", X.to_vec()));
    let t = npy_of(data!("fortran.npy"));
    assert_eq!(
        (t.shape.as_slice(), t.data),
        ([2, 3, 4].as_slice(), Data::Int((0..24).collect()))
    );
    let t = npy_of(data!("scalar.npy"));
    assert_eq!((t.shape.len(), t.data), (0, Data::F64(vec![2.5])));
    assert_eq!(npy_of(data!("vector.npy")).data, Data::Int(vec![1, 2]));
    assert_eq!(npy_of(data!("empty.npy")).shape, [0, 3]);
    let e = npy::parse(data!("complex.npy"), "x")
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("real numbers in \"x\", got the NumPy type <c16"),
        "{e}"
    );
}

#[test]
fn numpy_archives() {
    let t = npz::parse(data!("stored.npz")).unwrap();
    assert_eq!(named(&t, "k").data.to_f64(), X.map(|x| -x));
    let t = npz::parse(data!("deflated.npz")).unwrap();
    assert_eq!(named(&t, "q").shape, [64, 64]);
    assert_eq!(named(&t, "k").data.to_f64(), X);
}

#[test]
fn safetensors_of_every_kind() {
    let tensors = safetensors::parse(data!("mixed.safetensors")).unwrap();
    for (name, kind) in [
        ("a", "float64"),
        ("b", "float32"),
        ("h", "float16"),
        ("g", "bfloat16"),
    ] {
        let t = named(&tensors, name);
        assert_eq!(
            (t.data.kind(), t.shape.as_slice()),
            (kind, [2, 3].as_slice())
        );
        assert_eq!(t.data.to_f64(), X, "{name}");
    }
    assert_eq!(named(&tensors, "i").data, Data::Int(vec![-1, 2]));
    assert_eq!(named(&tensors, "t").data, Data::Int(vec![1, 0]));
    assert_eq!(
        safetensors::parse(&safetensors::write(&tensors)).unwrap(),
        tensors
    );
}

#[test]
fn json_arrays() {
    let t = json::parse(b" [[1, -2.5e0], [3, 4]]\n", "m").unwrap();
    assert_eq!(
        (t[0].name.as_str(), t[0].shape.as_slice()),
        ("m", [2, 2].as_slice())
    );
    assert_eq!(t[0].data.to_f64(), [1.0, -2.5, 3.0, 4.0]);
    let text = r#"{"id": "x\u00e9\n", "n": 3, "inputs": {"q": [[[1]]], "names": ["a"], "o": {"deep": null}}, "e": [], "v": [0.5]}"#;
    let t = json::parse(text.as_bytes(), "m").unwrap();
    assert_eq!(
        t.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(),
        ["inputs/q", "v"]
    );
    assert_eq!(t[0].shape, [1, 1, 1]);
    for (text, part) in [
        (
            "[[1, 2], [3]]",
            "Expected 2 cells, as in the array before it, got 1 in \"m\" at [1]",
        ),
        (
            "[[1, 2],\n [3, null]]",
            "Expected a number in \"m\" at [1, 1], got \"null\", line 2",
        ),
        ("[1, [2]]", "Expected a number, got an array"),
        ("[[1], 2]", "Expected an array, got a cell"),
        (
            "[1, 1e999]",
            "a finite number in \"m\" at [1], got \"1e999\"",
        ),
        ("[1, NaN]", "\"NaN\""),
        ("[1, 2", "\"]\", got the end of the file"),
        ("[1] 2", "the end of the file, got \"2\""),
        ("{\"a\": 1}", "none in the whole file"),
        ("{\"a\": [1}", "got \"}\""),
    ] {
        let e = json::parse(text.as_bytes(), "m")
            .map(|t| panic!("{t:?}"))
            .unwrap_err()
            .to_string();
        assert!(e.contains(part), "{text}: {e}");
    }
    let deep = "[".repeat(100_000);
    assert!(json::parse(deep.as_bytes(), "m").is_err());
    let deep = "{\"a\":".repeat(100_000);
    assert!(json::parse(deep.as_bytes(), "m").is_err());
}

#[test]
fn a_file_is_known_by_its_bytes() {
    for (bytes, name, count) in [
        (data!("float64.npy"), "x.npy", 1),
        (data!("stored.npz"), "wrong.csv", 2),
        (data!("mixed.safetensors"), "x", 6),
        (b"1;2\n3;4", "x.csv", 1),
        ("−1\t2".as_bytes(), "x.tsv", 1),
        (b"[1, 2]", "x.json", 1),
    ] {
        assert_eq!(
            read(bytes, name)
                .unwrap_or_else(|e| panic!("{name}: {e}"))
                .len(),
            count,
            "{name}"
        );
    }
    assert_eq!(read(b"1,2", "dir/m.csv").unwrap()[0].name, "dir/m");
    let e = read(b"\x7fELF", "a.out").unwrap_err().to_string();
    assert!(
        e.contains(".npz .npy .safetensors .json .csv .tsv .txt"),
        "{e}"
    );
    let e = read(b"x,y\n1,2", "x.csv").unwrap_err().to_string();
    assert!(e.contains("Row 1, column 1: \"x\" is not a number"), "{e}");
    assert!(
        read(b"", "x.npy")
            .unwrap_err()
            .to_string()
            .contains("an empty one")
    );
}

#[test]
fn damaged_files_are_refused() {
    let good = data!("mixed.safetensors");
    for cut in [0, 5, 9, 100, good.len() - 1] {
        assert!(safetensors::parse(&good[..cut]).is_err(), "{cut}");
    }
    let hole = |a: &str, b: &str| {
        let header = format!(
            r#"{{"a":{{"dtype":"F32","shape":[1],"data_offsets":{a}}},"b":{{"dtype":"F32","shape":[1],"data_offsets":{b}}}}}"#
        );
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        bytes.extend([0; 8]);
        safetensors::parse(&bytes)
    };
    assert!(hole("[0,4]", "[4,8]").is_ok());
    for (a, b) in [
        ("[0,4]", "[0,4]"),
        ("[0,4]", "[5,9]"),
        ("[4,0]", "[4,8]"),
        ("[0,8]", "[8,8]"),
    ] {
        assert!(hole(a, b).is_err(), "{a} {b}");
    }
    let mut broken = data!("deflated.npz").to_vec();
    let at = broken.len() / 3;
    broken[at] ^= 0x10;
    assert!(npz::parse(&broken).is_err());
    // A directory that promises 4 GB for a few bytes is not believed.
    let mut bomb = data!("deflated.npz").to_vec();
    let entry = bomb.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bomb[entry + 24..entry + 28].copy_from_slice(&0xFFFF_FFF0_u32.to_le_bytes());
    assert!(
        npz::parse(&bomb)
            .unwrap_err()
            .to_string()
            .contains("at most 512 MiB")
    );
    let mut long = data!("float64.npy").to_vec();
    long.pop();
    assert!(
        npy::parse(&long, "x")
            .unwrap_err()
            .to_string()
            .contains("47 bytes")
    );
}

/// A tensor of up to three axes with the numbers in float64.
fn tensor() -> impl Strategy<Value = Tensor> {
    proptest::collection::vec(0..4_usize, 0..4).prop_flat_map(|shape| {
        let n: usize = shape.iter().product();
        proptest::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), n)
            .prop_map(move |x| Tensor::new("t", shape.clone(), Data::F64(x)).unwrap())
    })
}

fn bits(t: &Tensor) -> (Vec<usize>, Vec<u64>) {
    (
        t.shape.clone(),
        t.data.to_f64().into_iter().map(f64::to_bits).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back_to_the_bit(t in tensor()) {
        prop_assert_eq!(bits(&npy::parse(&npy::write(&t), "t").unwrap()), bits(&t));
        prop_assert_eq!(bits(&safetensors::parse(&safetensors::write(std::slice::from_ref(&t))).unwrap()[0]), bits(&t));
        if !t.shape.is_empty() && !t.data.is_empty() {
            prop_assert_eq!(bits(&json::parse(json::write(&t).as_bytes(), "t").unwrap()[0]), bits(&t));
            let flat = csv::parse(csv::write(&t).as_bytes(), "t").unwrap();
            prop_assert_eq!(bits(&flat).1, bits(&t).1);
        }
    }

    #[test]
    fn serde_json_agrees_on_what_json_is(text in r#"[\[\]{},:"a1 \\en-]{0,24}"#) {
        // Where ours reads a file, it is JSON; the other way round, an array may be missing or ragged.
        if json::parse(text.as_bytes(), "t").is_ok() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for f in ALL {
            let _ = (f.sniff)(&bytes);
            let _ = (f.parse)(&bytes, "x").map_err(|e| e.to_string());
        }
    }

    #[test]
    fn random_text_never_panics(text in "[\\[\\](){}0-9eE.,;:\"\t\r\n +−x\\\\-]{0,60}") {
        for f in ALL {
            let _ = (f.parse)(text.as_bytes(), "x").map_err(|e| e.to_string());
        }
        let _ = formats::number::parse(&text).map_err(|e| e.to_string());
        if let Ok(t) = formats::table::parse(&text) {
            prop_assert_eq!(t.values.len(), t.rows * t.cols);
            prop_assert!(t.rows > 0 && t.cols > 0 && t.values.iter().all(|x| x.is_finite()));
        }
        let _ = formats::table::parse_decimal_comma(&text).map_err(|e| e.to_string());
    }

    #[test]
    fn good_files_with_a_changed_byte_never_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        for good in [data!("float64.npy"), data!("fortran.npy"), data!("stored.npz"), data!("deflated.npz"), data!("mixed.safetensors")] {
            let mut bytes = good.to_vec();
            let i = at.index(bytes.len());
            bytes[i] = byte;
            for f in ALL {
                let _ = (f.parse)(&bytes, "x").map_err(|e| e.to_string());
                let _ = (f.parse)(&bytes[..cut.index(bytes.len())], "x").map_err(|e| e.to_string());
            }
        }
    }
}
