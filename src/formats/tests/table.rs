//! What a reader pastes, and what they are told when it is no table.
#![expect(clippy::panic, reason = "a test fails by panicking")]
use formats::{number, table};
use table::Separator;

fn read(text: &str) -> (usize, usize, Vec<f64>) {
    let t = table::parse(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
    (t.rows, t.cols, t.values)
}

fn fails(text: &str) -> String {
    table::parse(text)
        .map(|t| panic!("{text:?} gave {t:?}"))
        .unwrap_err()
        .to_string()
}

#[test]
fn numbers_as_typed() {
    for (text, value) in [
        ("0.5", 0.5),
        (" −2 ", -2.0),
        ("–2", -2.0),
        ("3e−4", 3e-4),
        ("+1E3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("0,5", 0.5),
        ("−0,125", -0.125),
        ("12,5", 12.5),
        ("1,2500", 1.25),
        ("\u{a0}7\u{feff}", 7.0),
        ("1e308", 1e308),
        ("0e999", 0.0),
        ("0.1", 0.1),
    ] {
        assert_eq!(number::parse(text), Ok(value), "{text:?}");
    }
    assert!(number::parse("-0").unwrap().is_sign_negative());
}

#[test]
fn numbers_refused() {
    for (text, part) in [
        ("", "nothing was given"),
        ("  ", "nothing was given"),
        ("0.5x", "\"0.5x\" is not a number. Write 0.5, −2 or 3e−4."),
        ("x", "not a number"),
        ("--2", "not a number"),
        ("1e", "not a number"),
        ("1.2.3", "not a number"),
        ("0x10", "not a number"),
        ("1_000", "not a number"),
        ("1/3", "not a number"),
        ("½", "not a number"),
        (".", "not a number"),
        ("-", "not a number"),
        ("e5", "not a number"),
        ("1,2,3", "not a number"),
        ("inf", "not a finite number"),
        ("-Infinity", "not a finite number"),
        ("−∞", "not a finite number"),
        ("NaN", "not a finite number"),
        ("1e999", "beyond the largest float64"),
        ("-1e999", "beyond the largest float64"),
        ("1e-999", "closer to zero"),
        ("1,250", "can mean 1.250 or 1250"),
        ("−1,250", "can mean −1.250 or −1250"),
        ("1,250.5", "thousands"),
        ("1.250,5", "thousands"),
        ("1.250.000", "thousands"),
    ] {
        let got = number::parse(text)
            .map(|x| panic!("{text:?} gave {x}"))
            .unwrap_err()
            .to_string();
        assert!(got.contains(part), "{text:?}: {got}");
        assert!(got.ends_with('.'), "{got}");
    }
    assert!(
        number::parse(&"9".repeat(100_000))
            .unwrap_err()
            .to_string()
            .len()
            < 200
    );
}

#[test]
fn what_a_spreadsheet_pastes() {
    assert_eq!(read("1\t2\n3\t4\n"), (2, 2, vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(
        read("1\t2\r\n3\t4\r\n\r\n"),
        (2, 2, vec![1.0, 2.0, 3.0, 4.0])
    );
    assert_eq!(read("1\r2\r3"), (3, 1, vec![1.0, 2.0, 3.0]));
    assert_eq!(
        read("0,5\t−1,25\n2\t1,250"),
        (2, 2, vec![0.5, -1.25, 2.0, 1.25])
    );
    assert_eq!(
        read("\u{feff}1;2,5;3\n4;5;6\n\n"),
        (2, 3, vec![1.0, 2.5, 3.0, 4.0, 5.0, 6.0])
    );
    assert_eq!(read("\"0,5\",\"2\"\n3,4"), (2, 2, vec![0.5, 2.0, 3.0, 4.0]));
    assert_eq!(read("\"1\n\"\t2"), (1, 2, vec![1.0, 2.0]));
    assert_eq!(read("1,2,\n3,4,\n"), (2, 2, vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(read("7"), (1, 1, vec![7.0]));
    assert_eq!(read("1, 2, 3"), (1, 3, vec![1.0, 2.0, 3.0]));
    assert_eq!(
        read("  1   2 3 \n 4 5\u{a0}6 "),
        (2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    assert_eq!(read("0,5 0,75\n1 2"), (2, 2, vec![0.5, 0.75, 1.0, 2.0]));
    assert_eq!(table::parse("1;2").unwrap().separator, Separator::Semicolon);
    assert_eq!(table::parse("1 2").unwrap().separator, Separator::Space);
}

#[test]
fn what_a_notebook_prints() {
    for text in [
        "[[1, 2], [3, 4]]",
        "[[1. 2.]\n [3. 4.]]",
        "array([[1., 2.],\n       [3., 4.]])",
        "tensor([[1., 2.],\n        [3., 4.]], dtype=torch.float64)",
        "x = np.array([[1, 2,], [3, 4],])",
    ] {
        let t = table::parse(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(
            (t.rows, t.cols, t.values),
            (2, 2, vec![1.0, 2.0, 3.0, 4.0]),
            "{text:?}"
        );
        assert_eq!(t.separator, Separator::Brackets);
    }
    assert_eq!(read("[1, −2e-3]"), (1, 2, vec![1.0, -2e-3]));
    assert_eq!(read("[[1], [2]]"), (2, 1, vec![1.0, 2.0]));
    for (text, part) in [
        ("[[[1]]]", "three axes"),
        ("[[1, 2], [3]]", "Row 2 has 1 cell, row 1 has 2."),
        (
            "[[1, 2], [3, nan]]",
            "Row 2, column 2: \"nan\" is not a finite number.",
        ),
        ("[[1, , 2]]", "Row 1, column 2 is empty."),
        ("[[1, 2], [3, 4]", "never closed"),
        ("[1, [2]]", "a row inside a row"),
        ("[[1], 2]", "a number outside the rows"),
        ("[1] [2]", "more than one array"),
        ("[]", "nothing"),
    ] {
        let got = fails(text);
        assert!(got.contains(part), "{text:?}: {got}");
    }
}

#[test]
fn errors_name_the_cell() {
    for (text, expected) in [
        (
            "1\t2\t3\n4\t5\t0.5x",
            "Row 2, column 3: \"0.5x\" is not a number. Write 0.5, −2 or 3e−4.",
        ),
        (
            "1\t2\n3\t",
            "Row 2, column 2 is empty. Write 0 if it means zero.",
        ),
        (
            "\t2\n3\t4",
            "Row 1, column 1 is empty. Write 0 if it means zero.",
        ),
        (
            "1\t2\n3",
            "Row 2 has 1 cell, row 1 has 2. Make all rows equally long.",
        ),
        ("1\n\n2", "Row 2 has 0 cells"),
        (
            "1,2\n3,4,5",
            "Row 2 has 3 cells, row 1 has 2. Make all rows equally long.",
        ),
        (
            "1;1e999",
            "Row 1, column 2: \"1e999\" is beyond the largest float64",
        ),
        ("1\tinf", "Row 1, column 2: \"inf\" is not a finite number."),
        (
            "0.5\t1,250",
            "Row 1, column 2: \"1,250\" can mean 1.250 or 1250.",
        ),
        (
            "1\t\"2\n3",
            "The quote \" that opens in row 1 is never closed.",
        ),
        ("", "nothing"),
        (" \n\r\n ", "nothing"),
        (
            "name\tq0\n1\t2",
            "Row 1, column 1: \"name\" is not a number.",
        ),
    ] {
        let got = fails(text);
        assert!(got.contains(expected), "{text:?}: {got}");
    }
    assert_eq!(
        fails("1\n\n2"),
        "Row 2 has 0 cells, row 1 has 1. Make all rows equally long."
    );
}

#[test]
fn a_column_with_decimal_commas_is_pointed_out() {
    let t = table::parse("0,5\n1,75").unwrap();
    assert_eq!((t.cols, t.maybe_decimal_comma), (2, true));
    let t = table::parse_decimal_comma("0,5\n1,75").unwrap();
    assert_eq!((t.rows, t.cols, t.values), (2, 1, vec![0.5, 1.75]));
    assert!(!table::parse("0.5,1\n1,75").unwrap().maybe_decimal_comma);
    assert!(!table::parse("0,-5\n1,75").unwrap().maybe_decimal_comma);
    assert!(!table::parse("1,2,3").unwrap().maybe_decimal_comma);
}
