//! The binary that Trunk builds; everything is in the library.

fn main() {
    lab_page::start();
}
