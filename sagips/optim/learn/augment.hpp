#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// How rows to learn from are changed at random, anew in each data epoch.
struct AugmentConfig {
  std::vector<std::string> flip{};  ///< horizontal, vertical, depth: the last dimension, ...
  std::int64_t shift = 0;           ///< pixels at most
  double crop = 1;                  ///< smallest share of each side
  double noise = 0;                 ///< deviation

  void fields(core::FieldList& list);
  bool changes() const { return moves() || noise > 0; }
  bool moves() const { return !flip.empty() || shift > 0 || crop < 1; }
  /// row: [channels, length, ...]. throws: ConfigError for what such rows do not have
  void check(const torch::IntArrayRef& row) const;
};

/// Neighbouring rows of a data epoch's order, from number `first` on, changed. The numbers drawn are named
/// by epoch and place in it, so that they depend on neither ranks nor threads.
/// shape: [rows, channels, length, ...]; for noise alone any
torch::Tensor augmented(const torch::Tensor& rows, const AugmentConfig& config,
                        const core::RandomStream& of_epoch, std::int64_t first);

}  // namespace sagips::optim
