#include "sagips/comm/served/centre_rule.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void CentreRuleConfig::Gem::fields(core::FieldList& list) {
  list.add("learning_rate", learning_rate, "rate of a worker's own steps", core::Range::positive());
  list.add("momentum", momentum, "of a worker's own steps", {0.0, 1.0, false, true});
  list.add("kappa", kappa, "how much faster than one worker the centre may move",
           core::Range::positive());
  list.add("clamp", clamp, "the most by which a worker's step is stretched",
           core::Range::positive());
}

namespace {

class Downpour final : public CentreRule {
 public:
  Downpour(std::span<float> centre, const MakeUpdate& make) {
    if (make)
      update_ = make(centre);
    else
      update_ = [centre](std::span<const float> gradient, double) {
        for (std::size_t k = 0; k < centre.size(); ++k) centre[k] -= gradient[k];
      };
  }
  void apply(std::span<float> centre, std::span<const Arrival> round) override {
    if (round.size() == 1) {
      update_(round.front().values, round.front().progress);
    } else {
      std::vector<const float*> parts;
      for (const Arrival& arrival : round) parts.push_back(arrival.values.data());
      mean_.resize(centre.size());
      mean_of(parts, mean_);
      update_(mean_, round.front().progress);
    }
    for (const Arrival& arrival : round)
      std::copy(centre.begin(), centre.end(), arrival.answer.begin());
  }

 private:
  std::vector<float> mean_;
  Update update_;
};

class Elastic final : public CentreRule {
 public:
  explicit Elastic(double alpha) : alpha_(static_cast<float>(alpha)) {}
  void apply(std::span<float> centre, std::span<const Arrival> round) override {
    for (std::size_t k = 0; k < centre.size(); ++k) {
      const float before = centre[k];
      for (const Arrival& arrival : round) {
        centre[k] += alpha_ * (arrival.values[k] - before);
        arrival.answer[k] = before;
      }
    }
  }

 private:
  float alpha_;
};

class MeanOfNewest final : public CentreRule {
 public:
  MeanOfNewest(std::size_t workers, std::size_t floats)
      : newest_(workers, std::vector<float>(floats)), has_come_(workers) {}
  void apply(std::span<float> centre, std::span<const Arrival> round) override {
    for (const Arrival& arrival : round) {
      newest_[arrival.worker].assign(arrival.values.begin(), arrival.values.end());
      has_come_[arrival.worker] = 1;
    }
    average(centre);
    for (const Arrival& arrival : round)
      std::copy(centre.begin(), centre.end(), arrival.answer.begin());
  }
  void state(StateList& list) override {
    list.field("newest.has_come", has_come_);
    for (std::size_t w = 0; w < newest_.size(); ++w)
      list.field(core::text("newest", w), newest_[w]);
  }

 private:
  // By differences from one of them: what is the same for all stays that, bit for bit.
  void average(std::span<float> centre) const {
    const std::vector<float>* first = nullptr;
    std::vector<double> sum(centre.size());
    double count = 0;
    for (std::size_t w = 0; w < newest_.size(); ++w) {
      if (has_come_[w] == 0) continue;
      if (first == nullptr) first = &newest_[w];
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += newest_[w][k] - (*first)[k];
      ++count;
    }
    for (std::size_t k = 0; k < sum.size(); ++k)
      centre[k] = static_cast<float>((*first)[k] + sum[k] / count);
  }

  std::vector<std::vector<float>> newest_;
  std::vector<double> has_come_;  ///< by worker, as numbers of a state
};

// The momentum and the place of the last meeting of each worker lie with the owner, so that a worker
// needs no answer before it can send.
class Gem final : public CentreRule {
 public:
  Gem(const CentreRuleConfig::Gem& config, std::size_t workers, std::size_t floats)
      : rate_(static_cast<float>(config.learning_rate)),
        friction_(static_cast<float>(config.momentum)),
        kappa_(static_cast<float>(config.kappa)),
        clamp_(static_cast<float>(config.clamp)),
        workers_(workers, {std::vector<float>(floats), std::vector<float>(floats)}) {}

  void begin(std::span<const float> centre) override {
    for (Worker& worker : workers_) worker.seen.assign(centre.begin(), centre.end());
  }

  void apply(std::span<float> centre, std::span<const Arrival> round) override {
    before_.assign(centre.begin(), centre.end());
    for (const Arrival& arrival : round) move(centre, arrival);
  }

  void state(StateList& list) override {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      list.field(core::text("gem.momentum", w), workers_[w].momentum);
      list.field(core::text("gem.seen", w), workers_[w].seen);
    }
  }

 private:
  struct Worker {
    std::vector<float> momentum, seen;
  };

  void move(std::span<float> centre, const Arrival& arrival) {
    Worker& worker = workers_[arrival.worker];
    float* const m = worker.momentum.data();
    float* const s = worker.seen.data();
    for (std::size_t k = 0; k < centre.size(); ++k) {
      const float d = -rate_ * arrival.values[k];
      m[k] = friction_ * m[k] + d;
      const float v = before_[k] - s[k];
      s[k] = before_[k];
      const float room = (kappa_ * std::abs(m[k]) - std::abs(v)) / (std::abs(d) + 1e-12F);
      const float u = d * std::min(std::max(room, 0.0F), clamp_);
      centre[k] += u;
      arrival.answer[k] = before_[k] + u;
    }
  }

  float rate_, friction_, kappa_, clamp_;
  std::vector<Worker> workers_;
  std::vector<float> before_;
};

}  // namespace

std::unique_ptr<CentreRule> make_centre_rule(const CentreRuleConfig& config, std::size_t workers,
                                             std::span<float> centre, const MakeUpdate& update) {
  switch (config.rule) {
    case CentreRuleConfig::Rule::easgd:
      return std::make_unique<Elastic>(config.force / static_cast<double>(workers));
    case CentreRuleConfig::Rule::gem:
      return std::make_unique<Gem>(config.gem, workers, centre.size());
    case CentreRuleConfig::Rule::newest:
      return std::make_unique<MeanOfNewest>(workers, centre.size());
    case CentreRuleConfig::Rule::downpour:
      break;
  }
  return std::make_unique<Downpour>(centre, update);
}

void pull_elastically(std::span<float> weights, std::span<const float> sent,
                      std::span<float> centre, double alpha) {
  const auto factor = static_cast<float>(alpha);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const float force = factor * (sent[k] - centre[k]);
    weights[k] -= force;
    centre[k] += force;
  }
}

}  // namespace sagips::comm
