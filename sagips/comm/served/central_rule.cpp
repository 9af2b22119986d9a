#include "sagips/comm/served/central_rule.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void CentralRuleConfig::Gem::fields(core::FieldList& list) {
  list.add("learning_rate", learning_rate, "rate of a worker's own steps", core::Range::positive());
  list.add("momentum", momentum, "of a worker's own steps", {0.0, 1.0, false, true});
  list.add("kappa", kappa, "how much faster than one worker the central may move",
           core::Range::positive());
  list.add("clamp", clamp, "the most by which a worker's step is stretched",
           core::Range::positive());
}

namespace {

class Downpour final : public CentralRule {
 public:
  Downpour(std::span<float> central, const MakeUpdate& make) {
    if (make)
      update_ = make(central);
    else
      update_ = [central](std::span<const float> gradient, double) {
        for (std::size_t k = 0; k < central.size(); ++k) central[k] -= gradient[k];
      };
  }
  void apply(std::span<float> central, std::span<const Arrival> round) override {
    if (round.size() == 1) {
      update_(round.front().values, round.front().progress);
    } else {
      std::vector<const float*> parts;
      for (const Arrival& arrival : round) parts.push_back(arrival.values.data());
      mean_.resize(central.size());
      mean_of(parts, mean_);
      update_(mean_, round.front().progress);
    }
    for (const Arrival& arrival : round)
      std::copy(central.begin(), central.end(), arrival.answer.begin());
  }

 private:
  std::vector<float> mean_;
  Update update_;
};

class Elastic final : public CentralRule {
 public:
  explicit Elastic(double alpha) : alpha_(static_cast<float>(alpha)) {}
  void apply(std::span<float> central, std::span<const Arrival> round) override {
    for (std::size_t k = 0; k < central.size(); ++k) {
      const float before = central[k];
      for (const Arrival& arrival : round) {
        central[k] += alpha_ * (arrival.values[k] - before);
        arrival.answer[k] = before;
      }
    }
  }

 private:
  float alpha_;
};

class MeanOfNewest final : public CentralRule {
 public:
  MeanOfNewest(std::size_t workers, std::size_t floats)
      : newest_(workers, std::vector<float>(floats)), has_come_(workers) {}
  void apply(std::span<float> central, std::span<const Arrival> round) override {
    for (const Arrival& arrival : round) {
      newest_[arrival.worker].assign(arrival.values.begin(), arrival.values.end());
      has_come_[arrival.worker] = 1;
    }
    average(central);
    for (const Arrival& arrival : round)
      std::copy(central.begin(), central.end(), arrival.answer.begin());
  }
  void state(StateList& list) override {
    list.field("newest.has_come", has_come_);
    for (std::size_t w = 0; w < newest_.size(); ++w)
      list.field(core::text("newest", w), newest_[w]);
  }

 private:
  // By differences from one of them: what is the same for all stays that, bit for bit.
  void average(std::span<float> central) const {
    const std::vector<float>* first = nullptr;
    std::vector<double> sum(central.size());
    double count = 0;
    for (std::size_t w = 0; w < newest_.size(); ++w) {
      if (has_come_[w] == 0) continue;
      if (first == nullptr) first = &newest_[w];
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += newest_[w][k] - (*first)[k];
      ++count;
    }
    for (std::size_t k = 0; k < sum.size(); ++k)
      central[k] = static_cast<float>((*first)[k] + sum[k] / count);
  }

  std::vector<std::vector<float>> newest_;
  std::vector<double> has_come_;  ///< by worker, as numbers of a state
};

// The momentum and the place of the last meeting of each worker lie with the owner, so that a worker
// needs no answer before it can send.
class Gem final : public CentralRule {
 public:
  Gem(const CentralRuleConfig::Gem& config, std::size_t workers, std::size_t floats)
      : rate_(static_cast<float>(config.learning_rate)),
        friction_(static_cast<float>(config.momentum)),
        kappa_(static_cast<float>(config.kappa)),
        clamp_(static_cast<float>(config.clamp)),
        workers_(workers, {std::vector<float>(floats), std::vector<float>(floats)}) {}

  void begin(std::span<const float> central) override {
    for (Worker& worker : workers_) worker.seen.assign(central.begin(), central.end());
  }

  void apply(std::span<float> central, std::span<const Arrival> round) override {
    before_.assign(central.begin(), central.end());
    for (const Arrival& arrival : round) move(central, arrival);
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

  void move(std::span<float> central, const Arrival& arrival) {
    Worker& worker = workers_[arrival.worker];
    float* const m = worker.momentum.data();
    float* const s = worker.seen.data();
    for (std::size_t k = 0; k < central.size(); ++k) {
      const float d = -rate_ * arrival.values[k];
      m[k] = friction_ * m[k] + d;
      const float v = before_[k] - s[k];
      s[k] = before_[k];
      const float room = (kappa_ * std::abs(m[k]) - std::abs(v)) / (std::abs(d) + 1e-12F);
      const float u = d * std::min(std::max(room, 0.0F), clamp_);
      central[k] += u;
      arrival.answer[k] = before_[k] + u;
    }
  }

  float rate_, friction_, kappa_, clamp_;
  std::vector<Worker> workers_;
  std::vector<float> before_;
};

}  // namespace

std::unique_ptr<CentralRule> make_central_rule(const CentralRuleConfig& config, std::size_t workers,
                                               std::span<float> central, const MakeUpdate& update) {
  switch (config.rule) {
    case CentralRuleConfig::Rule::easgd:
      return std::make_unique<Elastic>(config.force / static_cast<double>(workers));
    case CentralRuleConfig::Rule::gem:
      return std::make_unique<Gem>(config.gem, workers, central.size());
    case CentralRuleConfig::Rule::newest:
      return std::make_unique<MeanOfNewest>(workers, central.size());
    case CentralRuleConfig::Rule::downpour:
      break;
  }
  return std::make_unique<Downpour>(central, update);
}

void pull_elastically(std::span<float> weights, std::span<const float> sent,
                      std::span<float> central, double alpha) {
  const auto factor = static_cast<float>(alpha);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const float force = factor * (sent[k] - central[k]);
    weights[k] -= force;
    central[k] += force;
  }
}

}  // namespace sagips::comm
