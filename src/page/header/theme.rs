//! Light, dark, or as the reader's system is.

use crate::prelude::*;
use crate::text::{t, tf};

/// Which colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

const KEY: &str = "attention-lab.theme";

impl Theme {
    fn id(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    fn parse(id: &str) -> Option<Theme> {
        [Theme::Auto, Theme::Light, Theme::Dark]
            .into_iter()
            .find(|theme| theme.id() == id)
    }

    fn words(self) -> &'static str {
        match self {
            Theme::Auto => t("theme-auto"),
            Theme::Light => t("theme-light"),
            Theme::Dark => t("theme-dark"),
        }
    }

    /// What the button makes of it.
    fn next(self) -> Theme {
        match self {
            Theme::Auto => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::Auto,
        }
    }

    /// What was chosen the last time. A frame without storage, and a reader who refuses it, get the system's.
    fn stored() -> Theme {
        let storage = window().local_storage().ok().flatten();
        let id = storage.and_then(|s| s.get_item(KEY).ok().flatten());
        id.as_deref().and_then(Theme::parse).unwrap_or_default()
    }

    /// Puts it in force.
    fn apply(self) {
        let Some(root) = document().document_element() else {
            return;
        };
        // Fails for no attribute of this name.
        let _ = match self {
            Theme::Auto => root.remove_attribute("data-theme"),
            _ => root.set_attribute("data-theme", self.id()),
        };
    }

    fn store(self) {
        if let Ok(Some(storage)) = window().local_storage() {
            // A full or forbidden storage forgets the choice, and nothing more.
            let _ = match self {
                Theme::Auto => storage.remove_item(KEY),
                _ => storage.set_item(KEY, self.id()),
            };
        }
    }
}

/// Puts the theme of the last visit in force; to be called before colours are read.
pub fn restore_theme() -> Theme {
    let theme = Theme::stored();
    theme.apply();
    theme
}

/// The one button that is only an icon: half a disc for the system's theme, an empty one for light, a full one for dark.
#[component]
pub(super) fn ThemeButton(on_theme: Callback<()>) -> impl IntoView {
    let theme = RwSignal::new(restore_theme());
    let change = move |_| {
        let next = theme.get_untracked().next();
        theme.set(next);
        next.apply();
        next.store();
        on_theme.run(());
    };
    let name = move || {
        tf(
            "theme",
            &[
                ("now", &theme.get().words()),
                ("next", &theme.get().next().words()),
            ],
        )
    };
    let inside = move || match theme.get() {
        Theme::Auto => "M8 2.5a5.5 5.5 0 0 1 0 11z",
        Theme::Light => "",
        Theme::Dark => "M8 2.5a5.5 5.5 0 0 1 0 11 5.5 5.5 0 0 1 0-11z",
    };
    view! {
        <button
            type="button"
            class="theme"
            data-name="theme"
            data-value=move || theme.get().id()
            aria-label=name
            title=name
            on:click=change
        >
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" />
                <path d=inside fill="currentColor" />
            </svg>
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_button_goes_round_and_ids_come_back() {
        let mut theme = Theme::Auto;
        for _ in 0..3 {
            assert_eq!(Theme::parse(theme.id()), Some(theme));
            theme = theme.next();
        }
        assert_eq!(theme, Theme::Auto);
        assert_eq!(Theme::parse("purple"), None);
    }
}
