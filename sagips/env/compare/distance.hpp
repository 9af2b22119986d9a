#pragma once
#include "sagips/env/compare/event_rows.hpp"

namespace sagips::env {

/// Largest difference between the two empirical distribution functions.
///
/// shape: values of a [n], of b [m]: one observable
/// cost:  O((n + m) log(n + m))
double kolmogorov_smirnov(const EventRows& a, const EventRows& b);

/// 2 E|X - Y| - E|X - X'| - E|Y - Y'| with Euclidean distances, unbiased (pairs of one event with
/// itself left out).
///
/// Each mean counts events by weight. Give standardised observables.
/// cost:  O(n m) time and memory: cut large samples first
/// source: Szekely and Rizzo, J. Stat. Plan. Inference 143 (2013) 1249, eq. (2.5)
double energy_distance(const EventRows& a, const EventRows& b);

}  // namespace sagips::env
