use super::matrix::{Matrix, word};
use crate::{
    canvas::heat::Look,
    labs::bench::inspector::fixture::{hostile, random, sentence, shown, small_numbers},
};

#[test]
fn every_matrix_has_the_numbers_of_the_trace() {
    let s = shown(&random(5, 3), 2, 1);
    let t = s.trace();
    assert_eq!(Matrix::K.cell(&s, 4, 2).0, t.k[4 * 3 + 2]);
    assert_eq!(Matrix::A.cell(&s, 2, 1).0, t.weights[11]);
    assert_eq!(Matrix::O.cell(&s, 1, 2).0, t.out[5]);
    assert_eq!(Matrix::J.cell(&s, 1, 3).0, s.looked().row.jacobian[8]);
    for (m, id) in Matrix::ALL {
        assert_eq!((Matrix::by_id(id), m.id()), (Some(m), id));
        assert!(!m.words().starts_with("table-"));
    }
}

#[test]
fn states_have_words() {
    let s = shown(&small_numbers(), 2, 1);
    assert_eq!(word(Matrix::A.cell(&s, 0, 2).1), "row sees no key");
    assert_eq!(word(Matrix::A.cell(&s, 2, 1).1), "underflow");
    assert_eq!(word(Matrix::A.cell(&s, 2, 4).1), "hidden");
    assert_eq!(Matrix::M.cell(&s, 2, 4), (f64::NEG_INFINITY, Look::Masked));
    assert_eq!(Matrix::M.cell(&s, 2, 0), (0.0, Look::Plain));
    assert_eq!(word(Matrix::O.cell(&s, 0, 0).1), "row sees no key");
    assert_eq!(word(Matrix::J.cell(&s, 0, 1).1), "underflow");
    assert_eq!(word(Matrix::J.cell(&s, 0, 4).1), "hidden");
}

#[test]
fn csv_reads_back() {
    let s = shown(&sentence(8), 0, 0);
    let csv = Matrix::A.csv(&s);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 17);
    assert!(lines[0].starts_with(",[CLS],the,animal"));
    let cells: Vec<&str> = lines[2].split(',').collect();
    assert_eq!(cells.len(), 17);
    assert_eq!(cells[3].parse::<f64>().unwrap(), s.trace().weights[16 + 2]);
    for (what, session) in hostile() {
        let s = shown(&session, 0, 0);
        for (m, _) in Matrix::ALL {
            assert!(!m.csv(&s).contains("NaN"), "{what}");
        }
    }
}
