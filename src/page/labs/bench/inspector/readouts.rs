//! The numbers of a row, and of all rows, with a word on what each is out of.

use super::{
    facts::Shown,
    names::{self, Name},
};
use crate::prelude::*;
use crate::{
    format,
    text::{t, tf},
    widgets::Gloss,
};

/// One line: a label, a number, a remark.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// For tests: `data-read`.
    pub name: &'static str,
    /// Words before.
    pub label: &'static str,
    /// What they mean, for who asks: id and words.
    pub gloss: (&'static str, &'static str),
    /// The number itself.
    pub value: f64,
    /// Decimals.
    pub digits: usize,
    /// Words after, with a name at their end.
    pub note: String,
    /// The name.
    pub whose: Option<Name>,
    /// A further number in the remark: `data-read` and value.
    pub also: Option<(&'static str, f64)>,
}

fn read(name: &'static str, label: &'static str, value: f64, digits: usize, note: String) -> Read {
    Read {
        name,
        label,
        gloss: gloss(name),
        value,
        digits,
        note,
        whose: None,
        also: None,
    }
}

fn gloss(name: &str) -> (&'static str, &'static str) {
    match name {
        "entropy" => ("gloss-entropy", t("gloss-entropy")),
        "keys_in_effect" => ("gloss-effect", t("gloss-effect")),
        "top_weight" => ("gloss-top", t("gloss-top")),
        "row_sum" => ("gloss-sum", t("gloss-sum")),
        "sink_weight" => ("gloss-sink", t("gloss-sink")),
        "mean_top_weight" => ("gloss-mean-top", t("gloss-mean-top")),
        "mean_jacobian_norm" => ("gloss-mean-norm", t("gloss-mean-norm")),
        _ => ("gloss-column", t("gloss-column")),
    }
}

/// Above this share of all weight a column is called a sink.
const SINK: f64 = 0.5;

/// The lines about the row.
pub fn row(shown: &Shown) -> Vec<Read> {
    let f = shown.facts();
    let n = shown.n_k();
    let entropy_note = match f.visible {
        0 => t("read-no-key").to_owned(),
        v => tf("read-nats", &[("most", &format::fixed((v as f64).ln(), 3))]),
    };
    let in_effect = if shown.sees_nothing() {
        0.0
    } else {
        f.entropy.exp()
    };
    let effect_note = if f.visible == n {
        t("read-exp").to_owned()
    } else {
        tf("read-visible", &[("n", &f.visible)])
    };
    let mut lines = vec![
        read("entropy", t("read-entropy"), f.entropy, 3, entropy_note),
        read(
            "keys_in_effect",
            t("read-effect"),
            in_effect,
            2,
            effect_note,
        ),
    ];
    let mut top = read("top_weight", t("read-top"), f.top_weight, 3, String::new());
    if f.top_weight > 0.0 {
        top.note = t("read-on").to_owned();
        top.whose = Some(shown.setting.names.key(f.top_key));
    }
    lines.push(top);
    let lse = tf("read-lse", &[("lse", &format::in_cell(f.lse))]);
    match shown.sink() {
        Some(logit) => {
            lines.push(read("row_sum", t("read-sum"), f.row_sum, 3, lse));
            let note = tf("read-sink-note", &[("logit", &format::short(logit))]);
            lines.push(read("sink_weight", t("read-sink"), f.sink_weight, 3, note));
        }
        None => lines.push(read("row_sum", t("read-sum"), f.row_sum, 3, lse)),
    }
    if let Some(sum) = lines.iter_mut().find(|l| l.name == "row_sum") {
        sum.also = Some(("lse", f.lse));
    }
    lines
}

/// The lines about all rows.
pub fn all(shown: &Shown) -> Vec<Read> {
    let s = &shown.trace().summary;
    let rows = shown.trace().shape.n_q - s.empty_rows.min(shown.trace().shape.n_q);
    let over = match (s.empty_rows, rows) {
        (0, 1) => t("read-one-row").to_owned(),
        (0, n) => tf("read-rows", &[("n", &n)]),
        (_, n) => tf("read-rows-seeing", &[("n", &n)]),
    };
    let (key, weight) = s.top_column;
    let mut column = read(
        "top_column",
        t("read-column"),
        weight,
        3,
        t("read-column-by").to_owned(),
    );
    column.whose = Some(shown.setting.names.key(key));
    if weight >= SINK {
        column.note = t("read-column-sink").to_owned();
    }
    vec![
        read(
            "mean_top_weight",
            t("read-mean-top"),
            s.mean_top_weight,
            3,
            over,
        ),
        read(
            "mean_jacobian_norm",
            t("read-mean-norm"),
            s.mean_jacobian_norm,
            3,
            t("read-norm-most").to_owned(),
        ),
        column,
    ]
}

/// The lines as a list of terms.
#[component]
pub fn Reads(
    /// What to print.
    #[prop(into)]
    lines: Signal<Vec<Read>>,
    /// Heading for screen readers.
    label: &'static str,
) -> impl IntoView {
    view! {
        <dl class="reads" aria-label=label>
            {move || {
                lines
                    .get()
                    .into_iter()
                    .map(|l| {
                        let also = l.also;
                        view! {
                            <div>
                                <dt><Gloss id=l.gloss.0 word=l.label means=l.gloss.1/></dt>
                                <dd class="value" data-read=l.name data-value=super::js(l.value)>
                                    {format::fixed(l.value, l.digits)}
                                </dd>
                                <dd
                                    class="note"
                                    data-read=also.map(|a| a.0)
                                    data-value=also.map(|a| super::js(a.1))
                                >
                                    {l.note}
                                    {l.whose.map(|n: names::Name| view! { " " {n.view()} })}
                                </dd>
                            </div>
                        }
                    })
                    .collect_view()
            }}
        </dl>
    }
}
