//! What a spec accepts at most, each with its reason. Past them a spec is an error, not a crash.

/// Query heads: more than any published layer has (128), and a picker can still hold.
pub const MAX_HEADS: usize = 256;

/// Queries or keys of a head: sequence lengths that fit a browser tab. K and V of one head of 64 then take 32 MiB in
/// float32; places and their differences are far from where float64 or a 32-bit index gives out.
pub const MAX_TOKENS: usize = 1 << 16;

/// Width of a query, key or value: four times the widest published head (256).
pub const MAX_WIDTH: usize = 1024;

/// Cells of one tensor (`q`, `k`, `v` or `out`): 2²⁶ float64 are 512 MiB, half of what a wasm memory can be asked for.
pub const MAX_CELLS: usize = 1 << 26;

/// Size of a scale, soft cap, sink, finite mask constant or QK-norm ε: larger ones say nothing about attention, and
/// 1e30 times a sum of float32 products stays far below the end of float64.
pub const MAX_SCALAR: f64 = 1e30;

/// Places a rotary embedding counts to, offsets included: the argument reduction of sine and cosine is exact up to
/// there.
pub const MAX_PLACE: usize = 1 << 20;
