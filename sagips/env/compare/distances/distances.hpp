#pragma once
#include "sagips/env/compare/event_distance.hpp"
#include "sagips/env/compare/event_rows.hpp"

namespace sagips::env::distances {

/// Jensen-Shannon divergence as a classifier sees it: ln 2 less its loss on events that it was not
/// trained on. The classifier is trained anew at each sample, on half of its events. A lower bound
/// in the mean; below zero when the classifier learnt nothing.
///
/// Its gradient goes through the events alone, with the classifier held: that is the divergence's
/// gradient for the best possible classifier (envelope theorem). A poor classifier costs the value
/// little and the gradient more.
/// cost:   the training of a classifier a sample
/// source: Goodfellow et al., arXiv 1406.2661, theorem 1
EventDistance classifier(const EventDistance::Config& config, const EventRows& measured,
                         const core::RandomStream& stream);

/// Energy distance 2 E|X - Y| - E|X - X'| - E|Y - Y'|: strictly proper, without a bandwidth.
///
/// Unbiased: pairs of an event with itself are left out, so its mean is zero when both kinds of
/// events are distributed alike.
///
/// cost:   one observable: a sort of the synthetic events; else m (n + m) pairs
/// source: Szekely and Rizzo, J. Stat. Plan. Inference 143 (2013) 1249, eq. (2.5)
EventDistance energy(const EventDistance::Config& config, const EventRows& measured,
                     const core::RandomStream& stream);

/// -ln L of the channel's training events, divided by their number: the most precise comparison
/// where the pipeline's density is known. Needs no synthetic events.
///
/// A parameter that only scales the density is seen by its reference numbers alone.
/// throws: ConfigError when the channel has no density
EventDistance likelihood(const Channel& channel);

/// Squared maximum mean discrepancy E k(X, X') + E k(Y, Y') - 2 E k(X, Y) with k a mean of Gaussian
/// kernels, their widths in units of the measured events' median distance. Far events hardly count:
/// robust against a background that the pipeline does not know, but flat far from the answer.
///
/// Unbiased, as the energy distance.
/// cost:   m (n + m) pairs
/// source: Gretton et al., J. Mach. Learn. Res. 13 (2012) 723, eq. (3); median: Sec. 8
EventDistance mmd(const EventDistance::Config& config, const EventRows& measured,
                  const core::RandomStream& stream);

/// Mean over random directions of W_p^p between the projected events. Cheap for many events and
/// observables; its mean is above zero for finite samples of one distribution, too.
///
/// The p-th root is not taken: it has no slope where the distance vanishes, and moves no minimum.
/// cost:   directions times a sort of the synthetic events
/// source: W_p^p = integral |F^-1(q) - G^-1(q)|^p dq; Nadjahi et al., arXiv 1906.04516, eq. (4)
EventDistance sliced_wasserstein(const EventDistance::Config& config, const EventRows& measured,
                                 const core::RandomStream& stream);

}  // namespace sagips::env::distances
