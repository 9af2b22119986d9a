#pragma once
#include <cstdint>
#include <optional>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/optim/search/searcher.hpp"

namespace sagips::optim::searchers {

/// How the scores of a batch become what its proposals are worth.
enum class Shaping {
  ranks,         ///< by order alone, so one wild score moves nothing
  standardised,  ///< (mean - score) / deviation: REINFORCE with the batch's mean as its baseline
};

/// Reinforcement learning of proposals: a normal policy over the parameters' logits climbs along
/// the score-function gradient E[(baseline - score) grad ln pi], preconditioned by the inverse
/// Fisher matrix (natural gradient), which makes its steps independent of the parameters' scales
/// and correlations. The pipeline needs no gradient.
///
/// width_penalty > 0 narrows the policy beyond what the scores ask for.
///
/// source: Glasmachers et al., Exponential Natural Evolution Strategies, GECCO 2010, algorithm 1,
///         its rates and ranks; proposals over simulator parameters and the penalty: Louppe, Hermans
///         and Cranmer (AVO), arXiv 1707.07113, Sec. 3
class PolicyGradient final : public Searcher {
 public:
  struct Config {
    std::int64_t batch = 0;    ///< proposals of an update; 0: 4 + 3 ln n
    double deviation = 1.5;    ///< first one of each logit
    double learning_rate = 0;  ///< of the policy's width and shape; 0: by the number of parameters
    double width_penalty = 0;
    Shaping shaping = Shaping::ranks;

    void fields(core::FieldList& list);
  };

  PolicyGradient(const Config& config, const SearchStart& start);
  std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) override;

 private:
  void draw();
  void update(const std::vector<double>& scores);

  Config config_;
  core::RandomStream stream_;
  std::optional<Point> start_;  ///< until it was asked for
  std::int64_t batch_ = 0;
  double rate_ = 0;
  torch::Tensor mean_, spread_;  ///< theta = mean + spread noise. shape: [n], [n, n]
  torch::Tensor noise_;          ///< of this batch's proposals. shape: [batch, n]
  std::size_t learned_ = 0;      ///< trials of the batches before this one
  std::uint32_t updates_ = 0;
};

}  // namespace sagips::optim::searchers
