//! Sorting, once for the whole page: the standard library writes a sort out for each type and each comparison, two
//! kilobytes of code each time.

use std::cmp::Ordering;

/// Puts indices in order; equal ones stay as they are.
pub fn sort(indices: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    indices.sort_by(|a, b| compare(*a, *b));
}

/// The items in order; equal ones stay as they are.
pub fn sorted<T: Clone>(items: &[T], compare: &dyn Fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort(&mut order, &|a, b| compare(&items[a], &items[b]));
    order.into_iter().map(|at| items[at].clone()).collect()
}
