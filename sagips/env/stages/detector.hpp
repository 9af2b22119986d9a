#pragma once
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::env {

/// Smears and mixes the observables of an event: x' = M x with a fresh matrix for each event,
/// M = diag(N(1, smearing_i)) + mixing on the off-diagonal + random_mixing * (A + A^T) / 2 on the
/// off-diagonal with A uniform in [mixing_low, mixing_high].
///
/// shape:  [samples, events, observables] -> the same
/// noise:  D normal and D (D - 1) uniform dimensions for D observables
/// source: the authors' tool kit, whose defaults these are
class Detector {
 public:
  struct Config {
    bool enabled = false;
    std::vector<double> smearing = {0.08, 0.15};  ///< one an observable, relative
    double mixing = 0.03;
    double random_mixing = 0.2;
    double mixing_low = -1, mixing_high = 0.3;

    void fields(core::FieldList& list);
  };
  /// throws: ConfigError when the smearing does not fit the observables
  Detector(Config config, std::int64_t observables);

  torch::Tensor operator()(torch::Tensor events, Noise& noise) const;
  std::string name() const { return "detector"; }

 private:
  Config config_;
  std::int64_t observables_;
};

}  // namespace sagips::env
