//! The labs of the page. A new one is a folder and one line in [`ALL`].

pub mod bench;

/// A lab as the navigation lists it.
pub struct Lab {
    /// Name in links.
    pub id: &'static str,
    /// Key of its name in the words of the interface.
    pub name: &'static str,
}

/// Every lab, in the order of the navigation.
pub static ALL: &[Lab] = &[Lab {
    id: "bench",
    name: "lab-bench",
}];
