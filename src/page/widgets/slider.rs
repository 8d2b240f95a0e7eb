//! A value on a line.

use super::{Axis, Tick, rich, ticks::labelled};
use crate::ctx::Ctx;
use crate::prelude::*;
use leptos::ev;

/// Positions of the native control: fine enough that a pixel of any screen is one.
const POSITIONS: f64 = 4096.0;

fn position(place: f64) -> String {
    (place * POSITIONS).round().to_string()
}

/// A handle on a line with ticks. A drag is one step of undo; arrow keys go in hundredths of the line, with Shift or
/// Page keys in tenths; a double click goes back to the usual value.
#[component]
pub fn Slider(
    /// Name of the control for tests.
    #[prop(into)]
    name: String,
    /// Accessible name.
    #[prop(into)]
    label: String,
    /// The line.
    axis: Axis,
    /// Marked values, those whose labels matter most first. The handle snaps to them.
    #[prop(into)]
    ticks: Signal<Vec<Tick>>,
    /// The value now.
    #[prop(into)]
    value: Signal<f64>,
    /// The value in words, for screen readers.
    #[prop(into)]
    words: Signal<String>,
    /// Moved to another.
    #[prop(into)]
    slide: Callback<f64>,
    /// Back to the usual value.
    #[prop(into)]
    reset: Callback<()>,
    /// Whether the reader is invited to move it.
    #[prop(into, optional)]
    invited: Signal<bool>,
    /// Length of the line in px that labels can count on.
    #[prop(default = 202.0)]
    width: f64,
) -> impl IntoView {
    let ctx = Ctx::get();
    let place = memo(move || axis.place(value.get()));
    let percent = move |t: f64| format!("{:.3}%", t * 100.0);
    let on_key = move |event: ev::KeyboardEvent| {
        let far = if event.shift_key() { 10.0 } else { 1.0 };
        let now = value.get_untracked();
        let to = match event.key().as_str() {
            "ArrowRight" | "ArrowUp" => axis.step(now, far),
            "ArrowLeft" | "ArrowDown" => axis.step(now, -far),
            "PageUp" => axis.step(now, 10.0),
            "PageDown" => axis.step(now, -10.0),
            "Home" => axis.min,
            "End" => axis.max,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        slide.run(to);
    };
    view! {
        <div class="slider" class:invited=invited class:off=move || !axis.holds(value.get())>
            <div class="slider-line" aria-hidden="true">
                {move || {
                    let ticks = ticks.get();
                    let shown = labelled(axis, &ticks, width);
                    ticks
                        .iter()
                        .zip(shown)
                        .filter(|(tick, _)| (axis.min..=axis.max).contains(&tick.value))
                        .map(|(tick, shown)| {
                            view! {
                                <span class="tick" style:left=percent(axis.place(tick.value))>
                                    {shown.then(|| view! { <span class="tick-label">{rich(&tick.label)}</span> })}
                                </span>
                            }
                        })
                        .collect_view()
                }}
                <svg class="slider-arrow" viewBox="0 0 24 8" style:left=move || percent(place.get())>
                    <path d="M0 4H18" stroke="currentColor" stroke-width="1.75" />
                    <path d="M16 0 24 4 16 8Z" fill="currentColor" />
                </svg>
            </div>
            <input
                type="range"
                min="0"
                max=POSITIONS.to_string()
                step="1"
                data-name=format!("{name}-slider")
                aria-label=label
                aria-valuetext=move || words.get()
                prop:value=move || position(place.get())
                on:input:target=move |event| {
                    let handle = event.target();
                    let at = handle.value_as_number() / POSITIONS;
                    slide.run(ticks.with_untracked(|ticks| axis.snapped(at, ticks)));
                    // Where the value did not follow, on a tick or refused, the handle goes back to it.
                    handle.set_value(&position(place.get_untracked()));
                }
                on:change=move |_| ctx.end_gesture()
                on:keydown=on_key
                on:keyup=move |_| ctx.end_gesture()
                on:dblclick=move |_| {
                    reset.run(());
                    ctx.end_gesture();
                }
            />
        </div>
    }
}
