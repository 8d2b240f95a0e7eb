//! A number on a line, typed.

use super::{Problem, read_number, stepped, unique_id};
use crate::prelude::*;
use crate::{ctx::Ctx, format};
use leptos::{ev, html};
use std::{cell::RefCell, collections::HashMap};

thread_local! {
    /// How many fields of a name there are: some stand on a narrow screen twice.
    static COUNT: RefCell<HashMap<String, usize>> = RefCell::default();
}

/// A number that is typed. Enter and leaving it keep, Esc brings back what was; arrows and the wheel step, with Shift
/// ten steps at once. A text that cannot be read, or a number that is refused, stays with its sentence below.
#[component]
pub fn NumberField(
    /// Name of the control, for its problem and for tests.
    #[prop(into)]
    name: String,
    /// The number now.
    #[prop(into)]
    value: Signal<f64>,
    /// Asked for another.
    #[prop(into)]
    commit: Callback<f64>,
    /// Whether only whole numbers make sense.
    #[prop(optional)]
    integer: bool,
    /// Where steps end.
    #[prop(default = f64::NEG_INFINITY)]
    min: f64,
    /// Where steps end.
    #[prop(default = f64::INFINITY)]
    max: f64,
    /// Room for so many digits.
    #[prop(default = 5)]
    chars: u32,
    /// How the number is printed while nobody edits it.
    #[prop(default = format::exact)]
    show: fn(f64) -> String,
    /// Accessible name, where no children label the field.
    #[prop(into, optional)]
    aria: String,
    /// One sentence more.
    #[prop(into, optional)]
    help: String,
    /// Where the input element goes, for a caller who focuses it.
    #[prop(optional)]
    node: NodeRef<html::Input>,
    /// The label before the field.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let field = StoredValue::new(name.clone());
    let (id, problem_id) = (unique_id("number"), unique_id("problem"));
    let text = RwSignal::new(show(value.get_untracked()));
    let dirty = RwSignal::new(false);
    let problem = memo(move || field.with_value(|f| ctx.problem(f)));

    // An open wish goes with the last control that it stands at.
    let (here, gone) = (name.clone(), name.clone());
    COUNT.with_borrow_mut(|count| *count.entry(here).or_default() += 1);
    on_cleanup(move || {
        let left = COUNT.with_borrow_mut(|count| {
            let left = count.get(&gone).map_or(0, |n| n.saturating_sub(1));
            if left == 0 {
                count.remove(&gone);
            } else {
                count.insert(gone.clone(), left);
            }
            left
        });
        if left == 0 {
            ctx.clear(&gone);
        }
    });
    // The text follows the number unless the reader is at it or it is a wish still open.
    Effect::new(move |_| {
        let printed = show(value.get());
        if problem.with(Option::is_none) && !dirty.get_untracked() {
            text.set(printed);
        }
    });
    let ask = move |number: f64| {
        ctx.clear(&field.get_value());
        dirty.set(false);
        commit.run(number);
        if problem.with_untracked(Option::is_none) {
            text.set(show(value.get_untracked()));
        }
    };
    let keep = move || {
        // A field that leaves the page while it has focus still hears that it lost it.
        if dirty.try_get_untracked() != Some(true) {
            return;
        }
        match read_number(&text.get_untracked(), integer) {
            Ok(number) => ask(number),
            Err(why) => {
                dirty.set(false);
                ctx.note(&field.get_value(), why);
            }
        }
        ctx.end_gesture();
    };
    let step = move |count: f64| {
        let from = if dirty.get_untracked() {
            read_number(&text.get_untracked(), integer).ok()
        } else {
            None
        };
        let from = from.unwrap_or_else(|| value.get_untracked());
        ask(stepped(from, count, integer, min, max));
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let count = if event.shift_key() { 10.0 } else { 1.0 };
        match event.key().as_str() {
            "Enter" => keep(),
            "ArrowUp" => step(count),
            "ArrowDown" => step(-count),
            "Escape" if dirty.get_untracked() || problem.with_untracked(Option::is_some) => {
                ctx.clear(&field.get_value());
                dirty.set(false);
                text.set(show(value.get_untracked()));
            }
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let on_wheel = move |event: ev::WheelEvent| {
        let focused = document().active_element();
        if focused.is_some()
            && focused.as_ref() == node.get_untracked().as_deref().map(AsRef::as_ref)
        {
            event.prevent_default();
            let count = if event.shift_key() { 10.0 } else { 1.0 };
            step(if event.delta_y() + event.delta_x() < 0.0 {
                count
            } else {
                -count
            });
        }
    };
    let on_input = move |event| {
        text.set(event_target_value(&event));
        dirty.set(true);
        // The sentence leaves as soon as the text can be read again.
        if problem.with_untracked(Option::is_some)
            && read_number(&text.get_untracked(), integer).is_ok()
        {
            ctx.clear(&field.get_value());
        }
    };
    // Keyboards of decimals have no minus on some telephones.
    let keyboard = match (min >= 0.0, integer) {
        (true, true) => "numeric",
        (true, false) => "decimal",
        (false, _) => "text",
    };
    // Its padding: a narrow field holds as many digits as it says.
    let width = format!("calc({chars}ch + {}px)", if chars <= 4 { 4 } else { 0 });
    let labelled = children.is_some();
    let described = problem_id.clone();
    view! {
        <div class="number" class:bad=move || problem.with(Option::is_some)>
            {children.map(|words| view! { <label for=id.clone() title=help.clone()>{words()}</label> })}
            <input
                node_ref=node
                id=id
                type="text"
                inputmode=keyboard
                autocomplete="off"
                spellcheck="false"
                data-name=name.clone()
                title=help
                aria-label=(!labelled).then_some(aria)
                aria-invalid=move || problem.with(Option::is_some).then_some("true")
                aria-describedby=move || problem.with(Option::is_some).then(|| described.clone())
                style:width=width
                prop:value=text
                on:input=on_input
                on:keydown=on_key
                on:keyup=move |event| {
                    if matches!(event.key().as_str(), "ArrowUp" | "ArrowDown") {
                        ctx.end_gesture();
                    }
                }
                on:wheel=on_wheel
                on:blur=move |_| {
                    keep();
                    ctx.end_gesture();
                }
            />
            <Problem field=name id=problem_id />
        </div>
    }
}
