//! The sentence below a control whose last wish could not be met.

use crate::ctx::Ctx;
use crate::prelude::*;

/// Stands below the control `field` while its wish is open. `id` is what the control's `aria-describedby` names.
#[component]
pub fn Problem(
    /// Name of the control.
    #[prop(into)]
    field: String,
    /// Id of the element.
    #[prop(into, optional)]
    id: String,
) -> impl IntoView {
    let ctx = Ctx::get();
    let name = field.clone();
    let words = memo(move || ctx.problem(&field));
    dynamic(move || {
        words.get().map(|words| {
            view! {
                <p class="problem" id=id.clone() data-problem=name.clone() role="alert">
                    {sentence(&words)}
                </p>
            }
        })
    })
}

/// As it stands in print: a capital at its beginning, unless a symbol stands there, and curved quotation marks.
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next();
    let symbol = letters
        .clone()
        .next()
        .is_some_and(|second| !second.is_ascii_alphabetic() && second != ' ');
    let capital = first.map(|c| if symbol { c } else { c.to_ascii_uppercase() });
    let mut inside = false;
    capital
        .into_iter()
        .chain(letters)
        .map(|c| match c {
            '"' => {
                inside = !inside;
                if inside { '“' } else { '”' }
            }
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn sentences_begin_with_a_capital_and_symbols_stay() {
        assert_eq!(
            sentence("a number is expected here."),
            "A number is expected here."
        );
        assert_eq!(
            sentence("d_k: expected 1 to 256."),
            "d_k: expected 1 to 256."
        );
        assert_eq!(
            sentence("\"0.5x\" is not a number."),
            "“0.5x” is not a number."
        );
        assert_eq!(sentence(""), "");
    }
}
