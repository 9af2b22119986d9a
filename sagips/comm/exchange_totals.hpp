#pragma once
#include <cstdint>
#include <vector>

#include "sagips/comm/exchange.hpp"

namespace sagips::comm {

/// What an exchange has cost this rank so far. Times in seconds of wall clock.
struct ExchangeTotals {
  std::uint64_t calls = 0;
  Cost traffic{};
  double exposed_s = 0;  ///< inside start, progress, finish and after_update, less `waiting_s`
  double waiting_s = 0;  ///< for ranks of this node that had not yet begun the same call
  double hidden_s = 0;   ///< under way while this rank computed
  double copying_s = 0;  ///< between a GPU's memory and this machine's, where ranks exchange there
  Freshness freshness{};

  ExchangeTotals& operator+=(const ExchangeTotals& other);
  /// Takes out what an earlier look at the same exchange has found; a maximum stays.
  ExchangeTotals& operator-=(const ExchangeTotals& earlier);
  /// The mean age of what was used; 0 where nothing was.
  double age_mean() const;

  /// As checkpoints hold them. Counts up to 2^53 fit.
  std::vector<double> numbers() const;
  /// The numbers that an earlier version did not know are 0.
  static ExchangeTotals of(const std::vector<double>& numbers);
};

}  // namespace sagips::comm
