//! The worker: takes jobs, computes traces, newest revision first.

use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(feature = "threads")]
pub use wasm_bindgen_rayon::init_thread_pool;

/// Which variant this is: `"simd"` or `"simd-threads"`.
#[wasm_bindgen]
pub fn variant() -> String {
    let name = if cfg!(feature = "threads") {
        "simd-threads"
    } else {
        "simd"
    };
    name.into()
}
