#pragma once
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/env/constant.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::env {

/// Keeps events inside a box, low_i <= x_i <= high_i.
///
/// Inference form: events outside are masked. Training forms:
/// soft:     each event gets the weight prod_i sigmoid(k (x_i - low_i)) sigmoid(k (high_i - x_i)),
///           lifted to w (1 - shift) + shift, so that the edge carries a gradient;
/// resample: a hard cut, then the surviving events of a sample are drawn again to the original
///           count.
///
/// shape:  [samples, events, observables] -> the same
/// noise:  resample takes one uniform dimension, the others none
/// source: the authors' tool kit (k = 50)
class EventFilter {
 public:
  enum class Training { soft, resample };
  struct Config {
    bool enabled = false;
    std::vector<double> low = {0, 0}, high = {1, 1};  ///< units of the observables
    double steepness = 50;                            ///< k, per unit of the observable
    double shift = 0;
    Training training = Training::soft;

    void fields(core::FieldList& list);
  };
  /// throws: ConfigError when the box does not fit the observables or is empty
  EventFilter(Config config, std::int64_t observables);

  Events operator()(Events events, Noise& noise) const;
  Events infer(Events events, Noise& noise) const;
  std::string name() const { return "event_filter"; }

 private:
  void check(const torch::Tensor& values) const;
  torch::Tensor inside(const torch::Tensor& values) const;
  Events soft(Events events) const;
  Events resample(Events events, Noise& noise) const;

  Config config_;
  Constant low_, high_;
};

}  // namespace sagips::env
