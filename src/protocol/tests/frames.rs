//! Messages survive the way there and back, and what is not a message is an error and no panic.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use attention::{Config, MaskUse, Shape, naive::CellState};
use proptest::prelude::*;
use protocol::{
    Frame, Job, Look, Numbers, Reply, Revision, Stages, StagesJob, Target, ViewJob, cell_number,
    cell_state,
};

fn job() -> StagesJob {
    let mut config = Config::new(Shape::square(2, 1));
    config
        .masks
        .push(MaskUse::new("causal", &[("prefix", 1.into())]).unwrap());
    let (x, w_q) = (vec![1.0, -0.0], vec![f64::MIN_POSITIVE]);
    let (w_k, w_v) = (vec![3.0], vec![4.0]);
    let numbers = Numbers::Tokens {
        d_model: 1,
        x,
        w_q,
        w_k,
        w_v,
    };
    StagesJob {
        revision: Revision(u64::MAX),
        config,
        numbers,
        d_out: vec![5.0, 6.0],
    }
}

#[test]
fn a_job_comes_back_whole() {
    let frame = Job::Stages(job()).into_frame();
    assert_eq!(
        frame.arrays.len(),
        5,
        "tokens, three projections, a gradient"
    );
    let back = Frame::from_bytes(&frame.to_bytes()).unwrap();
    assert_eq!(back, frame);
    let Job::Stages(back) = Job::from_frame(back).unwrap() else {
        panic!("another job")
    };
    let job = job();
    assert_eq!(
        (back.revision, back.config, back.numbers, back.d_out),
        (job.revision, job.config, job.numbers, job.d_out)
    );
}

#[test]
fn stages_carry_as_many_tensors_as_names() {
    let names = vec!["out".to_owned(), "lse".to_owned()];
    let tensors = vec![vec![1.0, 2.0], vec![f64::NEG_INFINITY]];
    let stages = Stages {
        revision: Revision(1),
        names: names.clone(),
        tensors: tensors.clone(),
    };
    let frame = Reply::Stages(Box::new(stages)).into_frame();
    let Reply::Stages(back) = Reply::from_frame(frame).unwrap() else {
        panic!("another reply")
    };
    assert_eq!((back.names, back.tensors), (names, tensors));
}

#[test]
fn a_missing_array_is_an_error() {
    let view = Job::View(ViewJob {
        revision: Revision(1),
        config: Config::new(Shape::square(1, 1)),
        numbers: Numbers::Given {
            q: vec![1.0],
            k: vec![1.0],
            v: vec![1.0],
        },
        head: 0,
        look: Look {
            query: 0,
            key: 0,
            target: Target::Value(0),
        },
    });
    let mut frame = view.into_frame();
    frame.arrays.pop();
    let error = Job::from_frame(frame).unwrap_err().to_string();
    assert!(
        error.contains("3 arrays expected, 2 came") && error.contains("Reload the page"),
        "{error}"
    );
}

#[test]
fn every_state_of_a_cell_has_its_number() {
    let all = [
        CellState::Ordinary,
        CellState::Zero,
        CellState::Masked,
        CellState::RowSeesNothing,
        CellState::Underflowed,
        CellState::Overflowed,
    ];
    for state in all {
        assert_eq!(cell_state(cell_number(state)), state);
    }
    assert_eq!(cell_state(99.0), CellState::Ordinary);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0_usize..400) {
        if let Ok(frame) = Frame::from_bytes(&bytes) {
            let _ = (Job::from_frame(frame.clone()), Reply::from_frame(frame));
        }
        let whole = Job::Stages(job()).into_frame().to_bytes();
        if cut < whole.len() {
            prop_assert!(Frame::from_bytes(&whole[..cut]).is_err());
        }
        let head = Frame { head: bytes, arrays: vec![Vec::new(); 5] };
        let _ = (Job::from_frame(head.clone()), Reply::from_frame(head));
    }
}
