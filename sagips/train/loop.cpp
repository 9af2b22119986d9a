#include "sagips/train/loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::train {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

void LoopConfig::fields(core::FieldList& list) {
  list.add("epochs", epochs, "epochs at most (SAGIPS paper: 100000); 0: no limit",
           core::Range::between(0, 4294967295.0));
  list.add("minutes", minutes, "training time at most [min]; 0: no limit",
           core::Range::at_least(0));
  list.add("evaluate_every", evaluate_every,
           "epochs between evaluations; 0: a fiftieth of the epochs", core::Range::at_least(0));
  list.choice(
      "non_finite", non_finite, {{"stop", NonFinite::stop}, {"skip", NonFinite::skip}},
      "when a gradient holds NaN or infinity: stop the run, or skip that update and count it");
  list.group("engine", engine, "how an epoch is evaluated");
}

void LoopConfig::check() const {
  if (epochs == 0 && minutes == 0)
    throw core::ConfigError("train",
                            "neither epochs nor minutes limits the run (it would never "
                            "end). Set train.epochs or train.minutes.");
}

Loop::Loop(LoopConfig config, optim::Optimizer& optimizer, Callbacks callbacks)
    : config_(config),
      optimizer_(optimizer),
      callbacks_(std::move(callbacks)),
      engine_(config.engine) {
  config_.check();
  if (config_.evaluate_every == 0)
    config_.evaluate_every =
        config_.epochs > 0 ? std::max<std::int64_t>(1, config_.epochs / 50) : 100;
}

void Loop::observe(const record::Event& event) const {
  for (const auto& observer : callbacks_.observers) observer(event);
}

double Loop::progress() const {
  return config_.epochs > 0 ? static_cast<double>(epoch_) / static_cast<double>(config_.epochs) : 0;
}

void Loop::evaluate() {
  if (!callbacks_.evaluate || evaluated_epoch_ == epoch_) return;
  evaluated_epoch_ = epoch_;
  record::Evaluated evaluated = callbacks_.evaluate();
  evaluated.epoch = epoch_;
  evaluated.time_s = time_s_;
  observe(evaluated);
  if (callbacks_.should_stop && epoch_ > 0 && stop_reason_.empty())
    stop_reason_ = callbacks_.should_stop(evaluated);
}

void Loop::update(optim::UpdateStep& step) {
  const ExchangeHooks& exchange = callbacks_.exchange;
  if (exchange.before_update) exchange.before_update(step);
  // a sum is finite only if every term is, barring overflow, which is as bad
  const bool finite = std::isfinite(step.replica->gradients().sum().item<double>());
  if (!finite && config_.non_finite == NonFinite::stop)
    throw core::Error(core::text("epoch ", epoch_ + 1, ": the gradient of the ", step.name,
                                 " is not finite (a stage or a loss gave NaN or infinity). Lower "
                                 "its learning rate, narrow the parameter ranges, or set "
                                 "train.non_finite=skip."));
  if (finite)
    step.adam->step(progress());
  else
    observe(record::Warning{epoch_ + 1, core::text("update of the ", step.name,
                                                   " skipped: its gradient is not finite")});
  if (exchange.after_update) exchange.after_update(step);
}

double Loop::run_epoch() {
  optim::Batch batch = optimizer_.draw(static_cast<std::uint32_t>(epoch_ + 1));
  losses_.clear();
  for (const optim::Action& action : optimizer_.schedule()) {
    optim::UpdateStep& step = optimizer_.steps()[action.step];
    if (action.kind == optim::Action::Kind::update) {
      update(step);
      continue;
    }
    const auto values = engine_.gradients(step, batch, callbacks_.exchange.poll);
    for (std::size_t i = 0; i < values.size(); ++i)
      losses_.push_back({step.loss_names[i], values[i]});
    if (callbacks_.exchange.gradients_ready) callbacks_.exchange.gradients_ready(step);
  }
  ++epoch_;
  return static_cast<double>(batch.samples * batch.events);
}

void Loop::run_epochs(std::int64_t until) {
  while (epoch_ < until) run_epoch();
}

LoopResult Loop::run() {
  LoopResult result;
  evaluate();
  while (stop_reason_.empty()) {
    if (config_.epochs > 0 && epoch_ >= config_.epochs) {
      stop_reason_ = "all epochs done";
    } else if (config_.minutes > 0 && time_s_ >= config_.minutes * 60) {
      stop_reason_ = "time limit";
    } else if (interrupted()) {
      stop_reason_ = "interrupted";
      result.complete = false;
    } else {
      const auto start = Clock::now();
      const double events = run_epoch();
      const double epoch_s = seconds_since(start);
      time_s_ += epoch_s;
      observe(record::EpochDone{epoch_, time_s_, events / epoch_s, losses_});
      if (epoch_ % config_.evaluate_every == 0 && epoch_ != config_.epochs) evaluate();
    }
  }
  evaluate();
  result.epochs = epoch_;
  result.time_s = time_s_;
  result.reason = stop_reason_;
  observe(record::RunFinished{epoch_, time_s_, stop_reason_, result.complete});
  return result;
}

void Loop::state(nn::StateList& list) {
  list.field("epoch", epoch_);
  list.field("time_s", time_s_);
  optimizer_.state(list);
}

}  // namespace sagips::train
