//! Every step of the project as a command.

fn main() {}
