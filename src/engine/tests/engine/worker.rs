//! Steps, progress, superseding, cancelling, refusing.

use crate::common::{ask, given, look, stopped, view};
use attention::{Config, MaskUse, Shape};
use engine::{limits, worker::Worker};
use protocol::{Job, KernelJob, Numbers, Refusal, Reply, Revision, Target, Variant, ViewJob};
use std::cell::Cell;

thread_local!(static TIME: Cell<f64> = const { Cell::new(0.0) });

/// Every look at this clock takes 20 ms.
fn slow() -> f64 {
    TIME.with(|t| {
        t.set(t.get() + 20.0);
        t.get()
    })
}

fn large() -> Config {
    Config::new(Shape::square(512, 64))
}

fn refusal(reply: Reply) -> Refusal {
    match reply {
        Reply::Refused(refusal) => refusal,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn it_says_what_it_is() {
    let Reply::Ready(ready) = Worker::new(0, stopped).ready() else {
        panic!("not ready")
    };
    assert_eq!((ready.variant, ready.threads), (Variant::Native, 1));
}

#[test]
fn a_view_is_done_in_steps_and_a_newer_one_gets_in_between() {
    let mut worker = Worker::new(1, stopped);
    worker.receive(Job::View(view(1, &large(), 0)));
    for _ in 0..4 {
        assert!(worker.work(0.0).is_empty(), "no answer after a few rows");
    }
    worker.receive(Job::View(view(2, &Config::new(Shape::square(4, 4)), 0)));
    let mut replies = Vec::new();
    while worker.is_busy() {
        replies.extend(worker.work(0.0));
    }
    assert_eq!(
        replies
            .iter()
            .map(|r| r.revision().unwrap().0)
            .collect::<Vec<_>>(),
        [2]
    );
}

#[test]
fn long_jobs_report_and_short_ones_do_not() {
    let mut worker = Worker::new(1, slow);
    worker.receive(Job::View(view(1, &large(), 0)));
    let mut rows = Vec::new();
    while worker.is_busy() {
        for reply in worker.work(8.0) {
            match reply {
                Reply::Progress {
                    revision,
                    done,
                    total,
                } => {
                    assert_eq!((revision, total), (Revision(1), 512));
                    rows.push(done);
                }
                Reply::Trace(trace) => assert!(trace.millis > 100.0),
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(rows.len() > 3 && rows.is_sorted(), "{rows:?}");
}

#[test]
fn cancelling_is_answered_at_once_and_leaves_nothing() {
    let mut worker = Worker::new(1, stopped);
    worker.receive(Job::View(view(1, &large(), 0)));
    worker.work(0.0);
    let replies = worker.receive(Job::Cancel);
    assert!(matches!(replies[..], [Reply::Cancelled]));
    assert!(!worker.is_busy());
}

#[test]
#[should_panic(expected = "a test asked")]
fn a_panic_on_demand() {
    Worker::new(1, stopped).receive(Job::Panic);
}

#[test]
fn what_cannot_be_done_is_refused_with_the_field() {
    let mut worker = Worker::new(1, stopped);
    let config = Config::new(Shape {
        heads: 6,
        kv_heads: 3,
        n_q: 4,
        n_k: 4,
        d_k: 2,
        d_v: 2,
    });
    let mut revision = 0;
    let mut field = |change: &dyn Fn(&mut ViewJob)| {
        revision += 1;
        let mut job = view(revision, &config, 0);
        change(&mut job);
        let refusal = refusal(ask(&mut worker, Job::View(job)));
        assert_eq!(refusal.revision, Revision(revision));
        assert!(
            refusal.message.contains("expected") && refusal.message.contains("got"),
            "{}",
            refusal.message
        );
        (refusal.field, refusal.scheme)
    };
    let plain = |name: &str| (name.to_owned(), None);
    assert_eq!(
        field(&|job| job.config.shape.kv_heads = 4),
        plain("kv_heads")
    );
    assert_eq!(field(&|job| job.head = 6), plain("head"));
    assert_eq!(field(&|job| job.look = look(4, 0)), plain("look"));
    assert_eq!(field(&|job| job.look = look(0, 4)), plain("look"));
    assert_eq!(
        field(&|job| job.look.target = Target::Value(4)),
        plain("look")
    );
    assert_eq!(
        field(&|job| job.look.target = Target::Typed(vec![1.0])),
        plain("d_out")
    );
    assert_eq!(
        field(&|job| job.look.target = Target::Typed(vec![1.0, f64::NAN])),
        plain("d_out")
    );
    let mask = MaskUse::new("padding", &[("key_length", 9.into())]).unwrap();
    let padding = ("key_length".to_owned(), Some("padding".to_owned()));
    assert_eq!(field(&|job| job.config.masks = vec![mask.clone()]), padding);
    let change = |at: usize, x: f64| {
        move |job: &mut ViewJob| {
            let Numbers::Given { q, k, v } = &mut job.numbers else {
                return;
            };
            [q, k, v][at][0] = x;
        }
    };
    assert_eq!(field(&change(0, f64::NAN)), plain("q"));
    assert_eq!(field(&change(1, f64::INFINITY)), plain("k"));
    assert_eq!(field(&change(2, f64::NEG_INFINITY)), plain("v"));
    let tokens = |d_model: usize, cells: [usize; 4]| {
        let [x, w_q, w_k, w_v] = cells.map(|n| vec![1.0; n]);
        move |job: &mut ViewJob| {
            let (x, w_q, w_k, w_v) = (x.clone(), w_q.clone(), w_k.clone(), w_v.clone());
            job.numbers = Numbers::Tokens {
                d_model,
                x,
                w_q,
                w_k,
                w_v,
            };
        }
    };
    assert_eq!(field(&tokens(5, [21, 60, 30, 30])), plain("x"));
    assert_eq!(field(&tokens(5, [20, 61, 30, 30])), plain("w_q"));
    assert_eq!(field(&tokens(5, [20, 60, 31, 30])), plain("w_k"));
    assert_eq!(field(&tokens(5, [20, 60, 30, 31])), plain("w_v"));
    assert_eq!(field(&tokens(0, [0, 0, 0, 0])), plain("x"));
}

#[test]
fn a_bad_weight_is_named_and_unequal_lengths_are_refused() {
    let mut worker = Worker::new(1, stopped);
    let mut job = view(1, &Config::new(Shape::square(2, 2)), 0);
    let (x, w_q, w_k) = (vec![1.0; 4], vec![1.0; 4], vec![1.0, 1.0, f64::NAN, 1.0]);
    job.numbers = Numbers::Tokens {
        d_model: 2,
        x,
        w_q: w_q.clone(),
        w_k,
        w_v: w_q,
    };
    let refused = refusal(ask(&mut worker, Job::View(job.clone())));
    assert_eq!(
        (
            refused.field.as_str(),
            refused.message.starts_with("w_k[1, 0]")
        ),
        ("w_k", true)
    );
    job.config.shape.n_q = 1;
    job.revision = Revision(2);
    let refused = refusal(ask(&mut worker, Job::View(job)));
    assert_eq!(refused.field, "n_k");
}

#[test]
fn what_is_too_large_is_refused_with_the_number() {
    let mut worker = Worker::new(1, stopped);
    let config = Config::new(Shape::square(10_000, 8));
    let refused = refusal(ask(&mut worker, Job::View(view(1, &config, 0))));
    assert_eq!(
        refused.message,
        "Memory of this view: expected at most 256 MiB, got 3057 MiB. Take fewer tokens or heads."
    );
    let config = Config::new(Shape {
        n_q: 1,
        ..Shape::square(1 << 16, 1024)
    });
    assert!(limits::kernel_bytes(config.shape) > limits::MAX_BYTES);
    let numbers = Numbers::Given {
        q: vec![],
        k: vec![],
        v: vec![],
    };
    let job = KernelJob {
        revision: Revision(2),
        config,
        numbers,
    };
    assert!(
        refusal(ask(&mut worker, Job::Kernel(job)))
            .message
            .contains("2049 MiB")
    );
    assert!(
        limits::view_bytes(&Config::new(Shape::square(2560, 64))) <= limits::MAX_BYTES,
        "as documented"
    );
}

#[test]
fn a_look_without_a_view_is_a_sentence() {
    let mut worker = Worker::new(1, stopped);
    let refused = refusal(ask(
        &mut worker,
        Job::Look {
            revision: Revision(1),
            look: look(0, 0),
        },
    ));
    assert_eq!(refused.field, "look");
    let config = Config::new(Shape::square(3, 2));
    ask(&mut worker, Job::View(view(2, &config, 0)));
    let outside = Job::Look {
        revision: Revision(3),
        look: look(3, 0),
    };
    assert_eq!(
        refusal(ask(&mut worker, outside)).message,
        "Row: expected 0 to 2, got 3. Choose one of these."
    );
    assert!(matches!(given(&config), Numbers::Given { .. }));
}
