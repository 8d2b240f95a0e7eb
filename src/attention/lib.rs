//! The mathematics of attention: every stage named, a float64 oracle and a float32 fast path.
