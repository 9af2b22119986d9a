#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "sagips/train/checkpoint/checkpoints.hpp"
#include "sagips/train/checkpoint/quick_stop.hpp"
#include "sagips/train/checkpoint/stop_agreement.hpp"
#include "sagips/train/loop.hpp"

namespace sagips::train {

/// Decides when a run writes checkpoints, and attaches that to its loop: by epochs, by the clock,
/// when a signal asks for one, before a stop and at the end.
class Checkpointer {
 public:
  struct Signals {
    std::function<bool()> stop;        ///< SIGTERM, Ctrl-C
    std::function<bool()> checkpoint;  ///< SIGUSR1; true once
  };
  /// waits: whether this rank ever waits for another. state: everything that a resumed run needs
  Checkpointer(comm::Ranks& ranks, const record::CheckpointConfig& config, bool waits,
               StopAgreement& agreement, Checkpoints& checkpoints, Signals signals,
               std::function<void(nn::StateList&)> state);

  /// Sets `agree`, `ended`, `go_back`, `interrupted` and adds to `exchange.poll`.
  void attach_to(Loop::Callbacks& callbacks);
  /// The loop that calls these; before it runs.
  void watch(const Loop& loop);
  /// Called between pieces of work and while waiting; on rank 0 it also leads ranks that never wait
  /// and go on when its own epochs are over. throws: EpochGivenUp
  void poll();
  /// Whether the run was left in the middle of an epoch.
  bool gave_up() const { return quick_stop_.given_up(); }

 private:
  nn::State take();
  record::StopReason agree(std::int64_t step, const record::StopReason& reason);
  bool ended();
  bool is_due();
  bool is_due_for_others();
  void lead_others();
  void write(std::int64_t number);
  void write_part(std::int64_t number);

  comm::Ranks& ranks_;
  record::CheckpointConfig config_;
  StopAgreement& agreement_;
  Checkpoints& checkpoints_;
  Signals signals_;
  std::function<void(nn::StateList&)> state_;
  QuickStop quick_stop_;
  core::Tracer* tracer_ = nullptr;                                   ///< of the loop
  std::function<void(const std::function<void()>&)> between_steps_;  ///< empty: nobody to miss it
  std::function<void()> close_;  ///< ends what is under way between ranks; empty: nothing is
  const Loop* loop_ = nullptr;
  std::int64_t number_ = 1;  ///< of the next one
  std::int64_t last_step_ =
      0;                    ///< steps that were over at the last one, or where this process began
  std::int64_t last_ns_;    ///< when that was
  bool asked_for_ = false;  ///< by a signal
  double boundary_time_s_ = 0;   ///< training time at the last boundary
  bool told_to_stop_ = false;    ///< all were
  bool leads_others_ = false;    ///< rank 0's epochs are over, and ranks that never wait go on
  bool others_stopped_ = false;  ///< since then
};

}  // namespace sagips::train
