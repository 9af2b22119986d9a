#include "sagips/train/loop.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/script.hpp"
#include "sagips/train/operation_threads.hpp"

namespace sagips::train {

namespace {

using record::StopReason;
using record::TimeSplit;
using StopKind = record::StopReason::Kind;

constexpr std::size_t epochs_unread = 32;  // at most, so that who looks on is not far behind a GPU

/// Whether all that follows the gradients stays on a GPU.
bool is_left_to_gpu(const LoopConfig& config, optim::Optimizer& optimizer,
                    const ExchangeHooks& exchange) {
  return !exchange.gradients_ready && config.non_finite == NonFinite::stop &&
         std::ranges::all_of(optimizer.steps(), [](const optim::UpdateStep& step) {
           return step.rule->looks_at_gradients() && step.rule->config().batches_per_update == 1;
         });
}

}  // namespace

void LoopConfig::fields(core::FieldList& list) {
  list.add("epochs", epochs, "epochs at most (SAGIPS paper: 100000); 0: no limit",
           core::Range::between(0, 4294967295.0));
  list.add("minutes", minutes,
           "training time at most [min]; where epochs are left then, the same command goes on for "
           "as long again; 0: no limit",
           core::Range::at_least(0));
  list.add("evaluate_every", evaluate_every,
           "epochs between evaluations; 0: a fiftieth of the epochs", core::Range::at_least(0));
  list.add("snapshots", snapshots,
           "generators kept with their training time, at evaluations from the start to the end "
           "(SAGIPS paper: 21); 0: none",
           core::Range::at_least(0));
  list.add("timeline", timeline, "first epochs of which a trace is written; 0: none",
           core::Range::at_least(0));
  list.add("monitor", monitor,
           "measure processors, memory, GPUs and network, twice a second on each rank");
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

std::int64_t LoopConfig::evaluation_period() const {
  if (evaluate_every > 0) return evaluate_every;
  return epochs > 0 ? std::max<std::int64_t>(1, epochs / 50) : 100;
}

std::int64_t LoopConfig::snapshot_part(std::int64_t epoch) const {
  if (epochs > 0) return epoch * std::max<std::int64_t>(1, snapshots - 1) / epochs;
  return epoch > 0 ? 1 + static_cast<std::int64_t>(4 * std::log2(static_cast<double>(epoch))) : 0;
}

Loop::Loop(LoopConfig config, optim::Optimizer& optimizer, Callbacks callbacks)
    : config_(config),
      optimizer_(optimizer),
      callbacks_(std::move(callbacks)),
      engine_(config.engine),
      phases_(callbacks_.tracer, callbacks_.exchange.waited_s),
      poll_(callbacks_.exchange.poll),
      steps_per_epoch_(optimizer.steps_per_epoch()),
      pending_(optimizer.steps().size()),
      collected_(optimizer.steps().size()) {
  config_.check();
  config_.evaluate_every = config_.evaluation_period();
  if (poll_ && callbacks_.exchange.gradients_ready)
    poll_ = [this] {
      const PhaseClock::Scope polling = phase(&TimeSplit::exchange_s, nullptr);
      callbacks_.exchange.poll();
    };
  if (callbacks_.exchange.add_up)
    add_up_ = [this](std::span<double> numbers) {
      const PhaseClock::Scope adding = phase(&TimeSplit::exchange_s, "batch norm over ranks");
      callbacks_.exchange.add_up(numbers);
    };
  for (std::size_t i = 0; i < collected_.size(); ++i)
    if (const optim::UpdateStep& step = optimizer.steps()[i];
        step.rule->config().batches_per_update > 1)
      collected_[i].gradients = torch::zeros_like(step.replica->gradients());
  const torch::Device device = optimizer.steps().front().replica->weights().device();
  if (optimizer.graphs_of(1).number >= 0 && !add_up_)
    captured_ = std::make_unique<Captured>(device, !callbacks_.exchange.gradients_ready);
  if (callbacks_.tracer != nullptr && !device.is_cpu())
    gpu_trace_.emplace(device, *callbacks_.tracer);
  if (!is_left_to_gpu(config_, optimizer, callbacks_.exchange)) return;
  on_gpu_ = OnGpu();
  on_gpu_->not_finite = torch::zeros({1}, torch::dtype(torch::kInt32).device(device));
  for (const optim::UpdateStep& step : optimizer.steps())
    step.rule->share_flag(on_gpu_->not_finite);
}

void Loop::observe(const record::Event& event) const {
  for (const auto& observer : callbacks_.observers) observer(event);
}

// Over the steps of the epoch, and over the passes that name the same.
// means: over steps, of all passes one behind the other
std::vector<record::NamedNumber> Loop::mean_losses(const torch::Tensor& means) const {
  std::map<std::string, std::vector<double>> named;
  std::int64_t place = 0;
  for (const auto& [pass, sums] : losses_)
    for (const std::string& name : pass->loss_names)
      named[name].push_back(means[place++].item<double>());
  std::vector<record::NamedNumber> losses;
  for (const auto& [pass, sums] : losses_)
    for (const std::string& name : pass->loss_names)
      if (const auto found = named.extract(name)) {
        const std::vector<double>& all = found.mapped();
        losses.push_back(
            {name, std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size())});
      }
  return losses;
}

// An epoch is over: what its steps have given is told, and the next one begins at nothing.
void Loop::observe_epoch() {
  record::EpochDone done{epoch(), time_s_, epoch_s_ > 0 ? epoch_events_ / epoch_s_ : 0, {}};
  done.unit = callbacks_.unit;
  for (const optim::UpdateStep& step : optimizer_.steps())
    if (step.rule->last_rate() > 0)
      done.learning_rates.push_back({step.name, step.rule->last_rate()});
  if (gpu_trace_) gpu_trace_->tell();
  ++traced_epochs_;
  if (on_gpu_) {
    on_gpu_->epochs.push_back({std::move(done), epoch_means(), epoch_events_});
    return begin_epoch();
  }
  if (!callbacks_.exchange.serve)
    done.losses = mean_losses(epoch_means().cpu());  // who serves has seen none
  begin_epoch();
  observe(done);
}

torch::Tensor Loop::epoch_means() const {
  std::vector<torch::Tensor> sums;
  for (const auto& [pass, losses] : losses_) sums.push_back(losses);
  return torch::cat(sums) / static_cast<double>(epoch_steps_);
}

// Time and speed of an epoch are known as the mean of those that were read together: the CPU was far ahead of the GPU.
void Loop::read_gpu() {
  if (!on_gpu_ || on_gpu_->read_step == step_) return;
  wait_for_gpu();
  on_gpu_->read_step = step_;
  auto epochs = std::exchange(on_gpu_->epochs, {});
  const bool is_lost = on_gpu_->not_finite.item<std::int32_t>() != 0;
  const LostSteps lost = is_lost ? lost_steps() : LostSteps{};
  std::vector<torch::Tensor> losses;
  double events = 0;
  for (const OnGpu::Epoch& epoch : epochs) {
    losses.push_back(epoch.means);
    events += epoch.events;
  }
  const torch::Tensor numbers = epochs.empty() ? torch::Tensor() : torch::stack(losses).cpu();
  const double first_s = std::exchange(on_gpu_->read_s, time_s_);
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    record::EpochDone& done = epochs[i].done;
    if (step_of_epoch(done.epoch) > step_ - lost.count) break;  // its weights stood still
    const double share = static_cast<double>(i + 1) / static_cast<double>(epochs.size());
    done.time_s = first_s + (time_s_ - first_s) * share;
    done.events_per_second = time_s_ > first_s ? events / (time_s_ - first_s) : 0;
    done.losses = mean_losses(numbers[static_cast<std::int64_t>(i)]);
    observe(done);
  }
  if (!is_lost) return;
  step_ = on_gpu_->read_step = step_ - lost.count;
  const auto batch = optimizer_.draw(static_cast<std::uint32_t>(step_ + 1));
  refuse_gradient(*lost.first, "", epoch() + 1, batch.get());
}

// Other exchanges go on meanwhile, in time that is the computing's.
void Loop::poll_while_gpu_works(const optim::UpdateStep& step) const {
  const torch::Device device = step.replica->weights().device();
  while (callbacks_.exchange.poll && nn::works(device)) callbacks_.exchange.poll();
}

// What the GPU still works on is training time.
void Loop::wait_for_gpu() {
  phases_.begin_step();
  {
    const PhaseClock::Scope waiting = phase(&TimeSplit::compute_s, "waiting for the GPU");
    nn::wait_for(on_gpu_->not_finite.device());
  }
  time_s_ += phases_.end_wait();
}

// All rules stood still from then on: the networks are those that met the gradient.
Loop::LostSteps Loop::lost_steps() {
  LostSteps lost;
  const std::vector<optim::Action> schedule = optimizer_.schedule();
  for (const optim::Action& action : schedule) {
    if (action.kind != optim::Action::Kind::update) continue;
    const optim::UpdateStep& step = optimizer_.steps()[action.index];
    const auto updates = std::ranges::count_if(schedule, [&](const optim::Action& one) {
      return one.kind == action.kind && one.index == action.index;
    });
    const std::int64_t steps = (step.rule->lost_steps() + updates - 1) / updates;
    if (steps > lost.count) lost = {steps, &step};
  }
  return lost;
}

torch::Device Loop::device_of(const optim::Pass& pass) const {
  return optimizer_.steps()[pass.steps.front()].replica->weights().device();
}

void Loop::begin_epoch() {
  epoch_events_ = epoch_s_ = 0;
  epoch_steps_ = 0;
  if ((on_gpu_ || captured_) && !losses_.empty()) {  // graphs add to these
    for (auto& [pass, sums] : losses_) sums.zero_();
    return;
  }
  losses_.clear();
  for (const optim::Action& action : optimizer_.schedule()) {
    if (action.kind == optim::Action::Kind::update) continue;
    const optim::Pass& pass = optimizer_.passes()[action.index];
    const auto options = torch::dtype(torch::kFloat64).device(device_of(pass));
    losses_.emplace_back(
        &pass, torch::zeros({static_cast<std::int64_t>(pass.loss_names.size())}, options));
  }
}

double Loop::progress() const {
  return config_.epochs > 0
             ? static_cast<double>(step_) / static_cast<double>(step_of_epoch(config_.epochs))
             : 0;
}

void Loop::evaluate() {
  if (!callbacks_.evaluate || evaluated_step_ == step_) return;
  evaluated_step_ = step_;
  const core::Span evaluating(callbacks_.tracer, "evaluation", core::TraceRow::beside);
  is_evaluating_ = true;
  std::optional<record::Evaluated> evaluated = callbacks_.evaluate();
  is_evaluating_ = false;
  if (evaluated)
    take(std::move(*evaluated), epoch(), time_s_);
  else
    under_way_.emplace_back(epoch(), time_s_);
}

void Loop::take_late(bool wait) {
  if (!callbacks_.late || (under_way_.empty() && !wait)) return;
  while (std::optional<record::Evaluated> evaluated = callbacks_.late(wait)) {
    while (under_way_.front().first != evaluated->epoch) under_way_.pop_front();  // passed over
    const auto [epoch, time_s] = under_way_.front();
    under_way_.pop_front();
    take(std::move(*evaluated), epoch, time_s);
  }
}

void Loop::take(record::Evaluated evaluated, std::int64_t epoch, double time_s) {
  evaluated.epoch = epoch;
  evaluated.time_s = time_s;
  phases_.note_beside();
  observe(evaluated);
  if (callbacks_.score && epoch > 0)
    if (const auto score = callbacks_.score(evaluated))
      for (const optim::UpdateStep& step : optimizer_.steps()) step.rule->observe(*score);
  if (callbacks_.should_stop && epoch > 0 && !stop_reason_ && !early_stop_)
    early_stop_ = callbacks_.should_stop(evaluated);
}

// A sum is finite only if every term is, barring overflow, which is as bad.
bool Loop::is_finite(const optim::UpdateStep& step, const char* when) const {
  if (on_gpu_) return true;  // its update rules look
  poll_while_gpu_works(step);
  if (std::isfinite(step.replica->gradients().sum().item<double>())) return true;
  if (config_.non_finite == NonFinite::skip) return false;
  refuse_gradient(step, when, epoch() + 1, batch_);
}

void Loop::refuse_gradient(const optim::UpdateStep& step, const char* when, std::int64_t epoch,
                           const optim::Batch* batch) const {
  std::string why = batch != nullptr ? optimizer_.origin_of_non_finite(*batch) : "";
  if (why.empty()) why = "a layer or the loss gave NaN or infinity";
  std::string remedy = callbacks_.remedy;
  if (!remedy.empty()) remedy = ", " + remedy;
  throw core::Error(core::text("epoch ", epoch, ": the gradient of the ", step.name,
                               " is not finite", when, " (", why, "). Lower ", step.keys.optimizer,
                               ".learning_rate, set ", step.keys.optimizer, ".clip_norm", remedy,
                               ", or set train.non_finite=skip."));
}

void Loop::compute(const optim::Pass& pass, optim::Batch& batch) {
  std::vector<std::size_t> ready;
  {
    const PhaseClock::Scope computing = phase(&TimeSplit::compute_s, "gradients");
    const auto number = static_cast<std::size_t>(&pass - optimizer_.passes().data());
    run_on_gpu(1 + number, "gradients", pass.name, [&] {
      const torch::Tensor losses = engine_.gradients(pass, optimizer_.steps(), batch,
                                                     captured_ ? std::function<void()>() : poll_);
      for (auto& [known, sums] : losses_)
        if (known == &pass) sums.add_(losses.to(sums.device()));
    });
    for (const std::size_t step : pass.steps)
      if (make_ready(step)) ready.push_back(step);
  }
  for (const std::size_t step : ready) hand_over(step);
}

// Gradients that were just computed: nobody else may get what is not finite. False: more batches are to come.
bool Loop::make_ready(std::size_t index) {
  optim::UpdateStep& step = optimizer_.steps()[index];
  bool is_usable = is_finite(step, "");
  if (!is_usable) {
    observe(record::Warning{epoch() + 1, core::text("update of the ", step.name,
                                                    " skipped: its gradient is not finite")});
    step.replica->zero_gradients();  // the others go on without its share
  }
  if (!collect(index, is_usable)) return false;
  const bool updates = is_usable || callbacks_.exchange.gradients_ready;
  pending_[index] = {.ready = 1, .updates = updates ? 1 : 0};
  return true;
}

void Loop::hand_over(std::size_t index) {
  optim::UpdateStep& step = optimizer_.steps()[index];
  step.progress = progress();
  if (!callbacks_.exchange.gradients_ready) return;
  const PhaseClock::Scope starting = phase(&TimeSplit::exchange_s, "exchange start", &step);
  callbacks_.exchange.gradients_ready(step);
}

// The gradients of several batches become their mean over all rows of those that are usable; whether any is.
// False: more batches are to come.
bool Loop::collect(std::size_t index, bool& is_usable) {
  const optim::UpdateStep& step = optimizer_.steps()[index];
  const std::int64_t wanted = step.rule->config().batches_per_update;
  if (wanted == 1) return true;
  Collected& sum = collected_[index];
  if (is_usable) {
    sum.gradients.add_(step.replica->gradients(), batch_->weight);
    sum.weight += batch_->weight;
  }
  if (++sum.batches < wanted) return false;
  is_usable = sum.weight > 0;
  if (is_usable) step.replica->gradients().copy_(sum.gradients.div_(sum.weight));
  sum.gradients.zero_();
  sum.weight = 0;
  sum.batches = 0;
  return true;
}

void Loop::Collected::state(nn::StateList& list) {
  list.field("gradients", gradients);
  list.field("weight", weight);
  list.field("batches", batches);
}

void Loop::complete_exchange(std::size_t index) {
  Pending& pending = pending_[index];
  if (pending.ready == 0 || pending.exchanged != 0) return;
  pending.exchanged = 1;
  if (!callbacks_.exchange.before_update) return;
  optim::UpdateStep& step = optimizer_.steps()[index];
  const PhaseClock::Scope finishing = phase(&TimeSplit::exchange_s, "exchange finish", &step);
  pending.updates = callbacks_.exchange.before_update(step) ? 1 : 0;
  if (pending.updates != 0 && !is_finite(step, " after the exchange")) {
    pending.updates = 0;
    observe(record::Warning{
        epoch() + 1,
        core::text("update of the ", step.name, " skipped: what the ranks sent is not finite")});
  }
}

void Loop::update(std::size_t index) {
  // one_update_late: nothing yet in the first epoch; several batches make an update: more are to come
  if (pending_[index].ready == 0) return;
  complete_exchange(index);
  optim::UpdateStep& step = optimizer_.steps()[index];
  const bool updated = pending_[index].updates != 0;
  const PhaseClock::Scope updating = phase(&TimeSplit::update_s, "update", &step);
  if (updated) {
    step.rule->begin_step(progress());
    run_on_gpu(
        1 + optimizer_.passes().size() + index, "update", step.name,
        [&] { step.rule->finish_step(); }, step.rule->looks_at_gradients());
  }
  pending_[index] = {};
  if (callbacks_.exchange.after_update) {
    const PhaseClock::Scope mixing = phase(&TimeSplit::exchange_s, "exchange of weights", &step);
    callbacks_.exchange.after_update(step);
  }
  if ((updated || callbacks_.exchange.moves_weights) && step.updated) step.updated();
}

// number: of the piece of work in a step
// may_repeat: as a graph
void Loop::run_on_gpu(std::size_t number, const char* name, const std::string& of,
                      const std::function<void()>& work, bool may_repeat) {
  const bool is_traced = gpu_trace_ && traced_epochs_ < config_.timeline;
  if (is_traced)
    gpu_trace_->begin(
        {.name = name, .network = of.empty() ? nullptr : of.c_str(), .step = step_ + 1});
  if (may_repeat && captured_)
    run_as_graph(number, work);
  else
    work();
  if (is_traced) gpu_trace_->end();
}

void Loop::run_as_graph(std::size_t number, const std::function<void()>& work) {
  const std::size_t pieces = 1 + optimizer_.passes().size() + optimizer_.steps().size();
  captured_->work.run(static_cast<std::size_t>(captured_->graphs) * pieces + number, work);
  if (captured_->work.problem().empty()) return;
  observe(record::Warning{
      epoch() + 1, core::text("the GPU gets this training operation by operation, which may be "
                              "slower: it cannot be a graph (",
                              captured_->work.problem(), ")")});
  drawn_ = std::move(captured_->drawn[captured_->graphs]);
  captured_.reset();
}

optim::Batch& Loop::draw() {
  const auto number = static_cast<std::uint32_t>(step_ + 1);
  const optim::Optimizer::Graphs graphs =
      captured_ ? optimizer_.graphs_of(number) : optim::Optimizer::Graphs{};
  if (captured_) {
    captured_->work.begin_step(number);
    captured_->graphs = graphs.number;
  }
  std::unique_ptr<optim::Batch>& drawn = captured_ ? captured_->drawn[graphs.number] : drawn_;
  if (!captured_ || !drawn) {
    run_on_gpu(
        0, "draw", "", [&] { drawn = optimizer_.draw(number); }, false);
    return *drawn;
  }
  optim::Batch& batch = *drawn;
  batch.step = number;
  run_on_gpu(
      0, "draw", "", [&] { optimizer_.redraw(batch, number); }, graphs.draws);
  return batch;
}

// Threads take tiles. What is left beside those is too short for threads in each operation.
double Loop::run_step() {
  const OperationThreads one(1);
  const PhaseClock::Scope whole = phase(&TimeSplit::other_s, "step");
  if (callbacks_.exchange.serve) {
    const PhaseClock::Scope serving = phase(&TimeSplit::exchange_s, "serving");
    callbacks_.exchange.serve(step_ + 1);
    ++step_;
    return 0;
  }
  const auto drawn = [this]() -> optim::Batch& {
    const PhaseClock::Scope drawing = phase(&TimeSplit::loading_s, "draw");
    return draw();
  };
  optim::Batch& batch = drawn();
  batch_ = &batch;
  batch.progress = progress();
  if (add_up_) batch.add_up = &add_up_;
  if (losses_.empty()) begin_epoch();
  for (const optim::Action& action : optimizer_.schedule()) {
    if (action.kind == optim::Action::Kind::update)
      update(action.index);
    else
      compute(optimizer_.passes()[action.index], batch);
  }
  ++step_;
  ++epoch_steps_;
  batch_ = nullptr;
  const auto events = static_cast<double>(batch.samples * batch.events);
  if (captured_) return events;
  const PhaseClock::Scope freeing = phase(&TimeSplit::loading_s, nullptr);
  drawn_.reset();
  return events;
}

// Behind an epoch that is looked at, or that fills what may be unread.
bool Loop::is_time_to_read() const {
  const std::int64_t last = callbacks_.until > 0 ? callbacks_.until : config_.epochs;
  const bool is_looked_at = callbacks_.evaluate && epoch() % config_.evaluate_every == 0;
  constexpr double longest_s = 2;  // of what nobody has seen
  return on_gpu_->epochs.size() >= epochs_unread || is_looked_at || epoch() == last ||
         time_s_ - on_gpu_->read_s > longest_s;
}

void Loop::run_steps(std::int64_t until) {
  while (step_ < until) run_step();
}

// That no further step would be of use is no end that was asked for. A GPU's numbers tell it where they are read.
StopReason Loop::breakdown() const {
  if (on_gpu_ && on_gpu_->read_step != step_) return {};
  const std::string why = optimizer_.reason_to_stop();
  return {StopKind::failed, why.empty() ? why : "failed: " + why};
}

StopReason Loop::reason_to_stop() const {
  if (StopReason broken = breakdown()) return broken;
  if (early_stop_) return early_stop_;
  if (config_.minutes > 0 && time_s_ - limit_from_s_ >= config_.minutes * 60)
    return StopReason(StopKind::time_limit);
  return interrupted() ? StopReason(StopKind::interrupted) : StopReason();
}

// What ended the run is told with its epoch. The networks are those of the last good update: no
// step follows a gradient that could not be computed or is not finite.
void Loop::end_by_failure(const std::exception& problem) {
  std::string message = nn::first_line(problem);
  try {
    read_gpu();
  } catch (const std::exception&) {  // the first problem is the one that is told
  }
  if (is_evaluating_)
    message = core::text("evaluation after epoch ", epoch(), ": ", message);
  else if (message.rfind("epoch ", 0) != 0)
    message = core::text("epoch ", epoch() + 1, ": ", message);
  observe(record::RunFinished{epoch(), time_s_, {StopKind::failed, "failed: " + message}, false});
  core::pass_on_raised();
  throw core::Error(message);
}

LoopResult Loop::run() {
  // errors among ranks are the exchange's and the job's to tell
  if (callbacks_.exchange.gradients_ready) return turn();
  try {
    return turn();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    end_by_failure(problem);
  }
}

// A resumed run has seen its start; one that had come to its end has looked at that after its state was
// written, which may be an epoch to be looked at.
void Loop::run_until_a_reason() {
  const bool is_due = step_ == step_of_epoch(epoch()) && epoch() % config_.evaluate_every == 0;
  if (evaluated_step_ < 0 || (is_due && evaluated_step_ < step_)) evaluate();
  const std::int64_t last = callbacks_.until > 0 ? callbacks_.until : config_.epochs;
  for (;;) {
    if (last > 0 && step_ >= step_of_epoch(last)) {
      stop_reason_ = breakdown();
      if (!stop_reason_)
        stop_reason_ = early_stop_ ? early_stop_ : StopReason(StopKind::all_epochs);
      return;
    }
    const StopReason reason = reason_to_stop();
    stop_reason_ = callbacks_.agree ? callbacks_.agree(step_, reason) : reason;
    if (!stop_reason_ && on_gpu_) stop_reason_ = breakdown();  // a checkpoint has read it
    if (stop_reason_) return;
    phases_.begin_step();
    epoch_events_ += run_step();
    const double step_s = phases_.end_step(step_ <= steps_per_epoch_);
    time_s_ += step_s;
    epoch_s_ += step_s;
    take_late(false);
    if (step_ % steps_per_epoch_ != 0) continue;
    observe_epoch();
    if (on_gpu_ && is_time_to_read()) read_gpu();
    if (epoch() % config_.evaluate_every == 0 && epoch() != last) evaluate();
  }
}

LoopResult Loop::turn() {
  bool in_order = true;
  try {
    run_until_a_reason();
  } catch (const EpochGivenUp& given_up) {
    in_order = given_up.in_order;
    batch_ = nullptr;
    drawn_.reset();
    pending_.assign(pending_.size(), {});  // what is under way is left
    if (callbacks_.go_back) callbacks_.go_back();
    stop_reason_ = StopReason(StopKind::interrupted);
  }
  for (std::size_t step = 0; step < pending_.size(); ++step) complete_exchange(step);
  if (in_order && on_gpu_) {
    read_gpu();
    if (StopReason broken = breakdown()) stop_reason_ = broken;
  }
  if (callbacks_.ended && callbacks_.ended()) stop_reason_ = StopReason(StopKind::interrupted);
  if (in_order) evaluate();
  phases_.note_beside();
  const bool complete =
      stop_reason_.kind != StopKind::interrupted && stop_reason_.kind != StopKind::failed;
  LoopResult result{epoch(), time_s_, stop_reason_, complete};
  if (in_order) observe(record::RunFinished{epoch(), time_s_, stop_reason_, result.complete});
  return result;
}

bool Loop::in_flight() const {
  return callbacks_.exchange.before_update &&
         std::any_of(pending_.begin(), pending_.end(), [](const Pending& pending) {
           return pending.ready != 0 && pending.exchanged == 0;
         });
}

// Other ranks or another batch cut an epoch into other steps: as large a part of it is over. Rows of the
// step that this falls into are seen again, rather than never.
std::int64_t Loop::step_as_now(std::int64_t step, std::int64_t per_epoch) const {
  return step_of_epoch(step / per_epoch) + step % per_epoch * steps_per_epoch_ / per_epoch;
}

void Loop::state(nn::StateList& list) {
  if (list.gives()) read_gpu();  // what is observed is not behind what is kept
  std::int64_t per_epoch = steps_per_epoch_;
  list.field("steps_per_epoch", per_epoch);
  list.field("step", step_);
  list.field("time_s", time_s_);
  if (on_gpu_) {
    on_gpu_->read_s = time_s_;
    on_gpu_->read_step = step_;
  }
  list.field("evaluated_step", evaluated_step_);
  if (stop_reason_.kind == StopKind::time_limit) limit_from_s_ = time_s_;
  list.field("limit_from_s", limit_from_s_);
  std::vector<double> phases = phases_.numbers();
  list.field("phases_s", phases);
  if (!list.gives()) phases_.take(phases);
  list.field("early_stop", early_stop_.text);
  if (!list.gives()) early_stop_ = {StopKind::early_stop, early_stop_.text};
  optimizer_.state(list);
  if (losses_.empty()) begin_epoch();
  list.field("epoch_events", epoch_events_);
  list.field("epoch_s", epoch_s_);
  list.field("epoch_steps", epoch_steps_);
  for (auto& [pass, sums] : losses_) list.field("losses." + pass->name, sums);
  if (per_epoch != steps_per_epoch_) {
    step_ = step_as_now(step_, per_epoch);
    if (evaluated_step_ >= 0) evaluated_step_ = step_as_now(evaluated_step_, per_epoch);
    if (step_ == step_of_epoch(epoch())) begin_epoch();
  }
  for (std::size_t index = 0; index < pending_.size(); ++index) {
    complete_exchange(index);
    const std::string name = "pending." + optimizer_.steps()[index].name;
    list.field(name + ".ready", pending_[index].ready);
    list.field(name + ".exchanged", pending_[index].exchanged);
    list.field(name + ".updates", pending_[index].updates);
    torch::Tensor gradients = optimizer_.steps()[index].replica->gradients();
    list.field(name + ".gradients", gradients);
    if (collected_[index].gradients.defined()) list.part(name + ".collected", collected_[index]);
  }
}

}  // namespace sagips::train
