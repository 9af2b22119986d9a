#include "sagips/train/checkpointer.hpp"

namespace sagips::train {

Checkpointer::Checkpointer(comm::Ranks& ranks, const record::CheckpointConfig& config, bool waits,
                           Accord& accord, Checkpoints& checkpoints, Signals signals,
                           std::function<void(nn::StateList&)> state)
    : ranks_(ranks),
      config_(config),
      accord_(accord),
      checkpoints_(checkpoints),
      signals_(std::move(signals)),
      state_(std::move(state)),
      quick_stop_(ranks, waits, signals_.stop),
      last_ns_(comm::now_ns()) {}

void Checkpointer::hang_into(Loop::Callbacks& callbacks) {
  tracer_ = callbacks.tracer;
  callbacks.agree = [this](std::int64_t epoch, const std::string& wish) {
    return agree(epoch, wish);
  };
  callbacks.ended = [this] { ended(); };
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

void Checkpointer::watch(const Loop& loop) {
  loop_ = &loop;
  last_epoch_ = loop.epoch();
  boundary_time_s_ = loop.time_s();
}

nn::State Checkpointer::take() {
  nn::State state;
  auto list = nn::StateList::giving(state);
  state_(list);
  return state;
}

// Only rank 0 is asked.
bool Checkpointer::is_due(std::int64_t epoch) {
  if (signals_.checkpoint()) asked_for_ = true;
  if (checkpoints_.pending()) return false;  // one at a time
  const double minutes = static_cast<double>(comm::now_ns() - last_ns_) / 60e9;
  const bool progress = epoch > last_epoch_;
  const bool by_epochs =
      config_.epochs > 0 && (epoch % config_.epochs == 0 || epoch - last_epoch_ >= config_.epochs);
  const bool by_time = config_.minutes > 0 && minutes >= config_.minutes;
  return asked_for_ || (progress && (by_epochs || by_time));
}

void Checkpointer::note(std::int64_t epoch) {
  last_epoch_ = epoch;
  last_ns_ = comm::now_ns();
  asked_for_ = false;
}

std::string Checkpointer::agree(std::int64_t epoch, const std::string& wish) {
  Accord::Wish own{.stop = wish};
  if (ranks_.is_first()) {
    checkpoints_.poll();
    if (is_due(epoch)) own.checkpoint = number_;
    if (config_.epochs > 0) own.meet_by = (epoch / config_.epochs + 1) * config_.epochs;
  }
  const Accord::Word word = accord_(epoch, own);
  if (word.checkpoint != 0) {
    const core::Span writing(tracer_, "checkpoint");
    checkpoints_.write(word.checkpoint, epoch, loop_->time_s(), take());
    number_ = word.checkpoint + 1;
    note(epoch);
  }
  if (config_.are_written() && word.stop.empty() && !loop_->in_flight()) {
    const double epoch_s = loop_->time_s() - boundary_time_s_;
    quick_stop_.boundary(epoch, epoch_s, [this] { return take(); });
  }
  boundary_time_s_ = loop_->time_s();
  return word.stop;
}

void Checkpointer::ended() {
  quick_stop_.close();
  if (!config_.are_written()) return;
  const core::Span writing(tracer_, "checkpoint");
  checkpoints_.write(Checkpoints::last, loop_->epoch(), loop_->time_s(), take());
  checkpoints_.settle();
}

}  // namespace sagips::train
