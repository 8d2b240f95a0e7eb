//! Asks the linker for what `cargo xtask build` needs to take the page apart (see lazy.rs): which function calls which.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let set = |name: &str| std::env::var_os(name).is_some();
    if set("CARGO_FEATURE_PARTS")
        && std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32")
    {
        println!("cargo:rustc-link-arg-bins=--emit-relocs");
    }
}
