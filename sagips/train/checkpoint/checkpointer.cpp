#include "sagips/train/checkpoint/checkpointer.hpp"

#include <algorithm>

namespace sagips::train {

Checkpointer::Checkpointer(comm::Ranks& ranks, const record::CheckpointConfig& config, bool waits,
                           StopAgreement& agreement, Checkpoints& checkpoints, Signals signals,
                           std::function<void(nn::StateList&)> state)
    : ranks_(ranks),
      config_(config),
      agreement_(agreement),
      checkpoints_(checkpoints),
      signals_(std::move(signals)),
      state_(std::move(state)),
      quick_stop_(ranks, waits, signals_.stop),
      last_ns_(comm::now_ns()) {}

void Checkpointer::attach_to(Loop::Callbacks& callbacks) {
  tracer_ = callbacks.tracer;
  callbacks.agree = [this](std::int64_t step, const record::StopReason& reason) {
    return agree(step, reason);
  };
  close_ = callbacks.exchange.close;
  between_steps_ = callbacks.exchange.between_steps;
  callbacks.ended = [this] { return ended(); };
  callbacks.interrupted = [this] {
    return signals_.stop() && !(config_.are_written() && quick_stop_.in_hand());
  };
  if (!config_.are_written()) return;
  callbacks.go_back = [this] {
    auto list = nn::StateList::taking(quick_stop_.chosen());
    state_(list);
  };
  callbacks.exchange.poll = [this, inner = callbacks.exchange.poll] {
    if (inner) inner();
    quick_stop_.poll();
  };
}

void Checkpointer::poll() {
  quick_stop_.poll();
  if (leads_others_) lead_others();
}

void Checkpointer::watch(const Loop& loop) {
  loop_ = &loop;
  last_step_ = loop.step();
  boundary_time_s_ = loop.time_s();
}

nn::State Checkpointer::take() {
  nn::State state;
  auto list = nn::StateList::giving(state);
  state_(list);
  return state;
}

// Only rank 0 is asked. Periods of epochs end where an epoch does, those of the clock at any step.
bool Checkpointer::is_due() {
  if (signals_.checkpoint()) asked_for_ = true;
  if (checkpoints_.pending()) return false;  // one at a time
  if (asked_for_) return true;
  const std::int64_t step = loop_->step(), per_epoch = loop_->steps_per_epoch();
  if (step <= last_step_) return false;
  const double minutes = static_cast<double>(comm::now_ns() - last_ns_) / 60e9;
  const bool by_epochs =
      config_.epochs > 0 && step % per_epoch == 0 &&
      (loop_->epoch() % config_.epochs == 0 || step - last_step_ >= config_.epochs * per_epoch);
  return by_epochs || (config_.minutes > 0 && minutes >= config_.minutes);
}

// The epochs of rank 0 are over: a period of them counts as the time that it took.
bool Checkpointer::is_due_for_others() {
  if (!config_.are_written()) return false;
  if (signals_.checkpoint()) asked_for_ = true;
  if (checkpoints_.pending()) return false;
  const double waited_s = static_cast<double>(comm::now_ns() - last_ns_) * 1e-9;
  const auto epochs = static_cast<double>(std::max<std::int64_t>(1, loop_->epoch()));
  const double period_s = static_cast<double>(config_.epochs) * loop_->time_s() / epochs;
  return asked_for_ || (config_.epochs > 0 && waited_s >= period_s) ||
         (config_.minutes > 0 && waited_s >= 60 * config_.minutes);
}

record::StopReason Checkpointer::agree(std::int64_t step, const record::StopReason& reason) {
  StopAgreement::Request own{.stop = reason};
  if (ranks_.is_first()) {
    checkpoints_.poll();
    if (is_due()) own.checkpoint = number_;
    if (config_.epochs > 0)
      own.meet_by =
          (loop_->epoch() / config_.epochs + 1) * config_.epochs * loop_->steps_per_epoch();
  }
  const StopAgreement::Decision decision = agreement_(step, own);
  if (decision.checkpoint != 0) write(decision.checkpoint);
  told_to_stop_ = static_cast<bool>(decision.stop);
  // what owners of central weights have taken in cannot be taken back
  if (config_.are_written() && !decision.stop && !loop_->in_flight() && !close_) {
    const double step_s = loop_->time_s() - boundary_time_s_;
    quick_stop_.boundary(step, step_s, [this] { return take(); });
  }
  boundary_time_s_ = loop_->time_s();
  return decision.stop;
}

// Disks may be slow.
void Checkpointer::write_part(std::int64_t number) {
  const core::Span writing(tracer_, "checkpoint", core::TraceRow::beside);
  const auto write = [&] { checkpoints_.write(number, loop_->epoch(), loop_->time_s(), take()); };
  between_steps_ ? between_steps_(write) : write();
}

void Checkpointer::write(std::int64_t number) {
  write_part(number);
  number_ = number + 1;
  last_step_ = loop_->step();
  last_ns_ = comm::now_ns();
  asked_for_ = false;
}

// What is sent may have to be waited for, which polls again.
void Checkpointer::lead_others() {
  leads_others_ = false;
  StopAgreement::Request request;
  if (signals_.stop())
    request.stop = record::StopReason(record::StopReason::Kind::interrupted);
  else if (is_due_for_others())
    request.checkpoint = number_;
  const StopAgreement::Decision decision = agreement_.after_last_epoch(request);
  others_stopped_ = static_cast<bool>(decision.stop);
  leads_others_ = !others_stopped_;
  if (decision.checkpoint != 0) write(decision.checkpoint);
}

bool Checkpointer::ended() {
  quick_stop_.close();
  leads_others_ = ranks_.is_first() && ranks_.size() > 1 && !told_to_stop_ && !gave_up();
  if (close_ && !gave_up()) close_();  // the state is whole only then
  if (config_.are_written()) {
    write_part(Checkpoints::last);
    checkpoints_.settle();
  }
  leads_others_ = false;  // all have ended, and of their last parts no other checkpoint can be made
  return others_stopped_;
}

}  // namespace sagips::train
