#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sagips/comm/exchange.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// How central weights and workers move each other.
struct CentralRuleConfig {
  enum class Rule { downpour, easgd, gem, newest };
  struct Gem {
    double learning_rate = 0.01, momentum = 0.9, kappa = 2, clamp = 5;
    void fields(core::FieldList& list);
  };
  Rule rule = Rule::downpour;
  double force = 0.9;
  Gem gem;

  bool sends_gradients() const { return rule == Rule::downpour || rule == Rule::gem; }
};

/// What a worker has sent to the owner of a piece, and where its answer goes: to the same place or
/// another. shapes: [piece]
struct Arrival {
  std::size_t worker;  ///< its number, from 0
  std::span<const float> values;
  std::span<float> answer;
  double progress = 0;  ///< of its run, as in Step
};

/// Moves a piece of the central weights c by what workers have sent. Elementwise.
///
/// What several have sent in the same round meets the same c and is added in their order; by itself,
/// it is a round of one.
class CentralRule {
 public:
  virtual ~CentralRule() = default;
  /// Called once with the first central weights.
  virtual void begin(std::span<const float>) {}
  virtual void apply(std::span<float> central, std::span<const Arrival> round) = 0;
  virtual void state(StateList&) {}
};

/// Downpour: workers send gradients g, c moves by the optimizer's update rule with their mean, and the
/// answer is c.
/// source: Dean et al., NeurIPS 2012 (Downpour SGD, Adagrad in place of which stands any update rule)
///
/// EASGD: workers send their weights x; c += alpha sum (x - c), and the answer is c as it was before,
/// with which the worker does x -= alpha (x - c). alpha = force / workers. EAMSGD is the same with workers
/// that move by SGD with Nesterov's momentum.
/// source: Zhang, Choromanska, LeCun, NeurIPS 2015, arXiv 1412.6651, algorithms 1 and 2, eq. (5), (6)
///
/// GEM: workers send gradients g; with m, s of each worker, d = -rate g, m = momentum m + d, v = c - s,
/// s = c: u = d clip((kappa |m| - |v|) / (|d| + 1e-12), 0, clamp), c += sum u, and the answer is c + u with
/// the c from before. s begins at c.
/// source: Hermans, Louppe, arXiv 1805.08469, eq. (6) to (9)
///
/// newest: workers send numbers of their own, which stay as they are (force 0), and c is the mean of each
/// worker's last ones: for what networks remember of their rows beside their weights. No choice of users.
///
/// update: of the optimizer, for Downpour; none: c -= the mean of g
std::unique_ptr<CentralRule> make_central_rule(const CentralRuleConfig& config, std::size_t workers,
                                               std::span<float> central, const MakeUpdate& update);

/// What a worker of EASGD does with its answer, the central weights as they were: weights -= alpha (sent -
/// central); these then are as they came to be by this worker alone.
void pull_elastically(std::span<float> weights, std::span<const float> sent,
                      std::span<float> central, double alpha);

}  // namespace sagips::comm
