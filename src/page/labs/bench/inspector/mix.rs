//! The output of a row with few, short values: weights times values, written as a sum.

use super::facts::Shown;
use crate::prelude::*;
use crate::{format, order, text::t};

/// From so few terms of so few components on.
const FEW_TERMS: usize = 6;
const FEW_COMPONENTS: usize = 4;

/// Whether the output fits a table.
pub fn fits(shown: &Shown) -> bool {
    shown.trace().shape.d_v <= FEW_COMPONENTS
        && shown
            .weights_of(shown.query())
            .iter()
            .filter(|w| **w > 0.0)
            .count()
            <= FEW_TERMS
}

/// The table: one line a term, the sum below.
pub fn view(shown: &Shown) -> impl IntoView + use<> {
    let terms = order::sorted(&shown.heaviest(FEW_TERMS), &|a, b| a.0.cmp(&b.0));
    let out = shown.out().to_vec();
    let lines = terms
        .iter()
        .enumerate()
        .map(|(i, (key, weight))| {
            let value = shown.value(*key).to_vec();
            view! {
                <tr>
                    <th scope="row" class="a">{if i > 0 { "+ " } else { "" }} {format::fixed(*weight, 3)}</th>
                    <td class="v name">{shown.setting.names.value(*key).view()}</td>
                    {value.into_iter().map(|x| view! { <td>{component(x)}</td> }).collect_view()}
                </tr>
            }
        })
        .collect_view();
    view! {
        <table class="mix" aria-label=t("output-table")>
            <tbody>{lines}</tbody>
            <tfoot>
                <tr>
                    <th scope="row" colspan="2">"= " <var>"o"</var></th>
                    {out
                        .into_iter()
                        .enumerate()
                        .map(|(i, x)| {
                            view! {
                                <td data-read=format!("out.{i}") data-value=super::js(x)>{format::in_cell(x)}</td>
                            }
                        })
                        .collect_view()}
                </tr>
            </tfoot>
        </table>
    }
}

/// A value's component: typed ones as typed, where that is short.
fn component(x: f64) -> String {
    let all = format::exact(x);
    if all.chars().count() <= 5 {
        all
    } else {
        format::in_cell(x)
    }
}
