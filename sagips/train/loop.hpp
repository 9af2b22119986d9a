#pragma once
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/optim/learn/optimizer.hpp"
#include "sagips/record/event.hpp"
#include "sagips/train/captured_work.hpp"
#include "sagips/train/engine.hpp"
#include "sagips/train/gpu_trace.hpp"
#include "sagips/train/phase_clock.hpp"

namespace sagips::train {

/// What to do when a gradient holds NaN or infinity.
enum class NonFinite { stop, skip };

struct LoopConfig {
  std::int64_t epochs = 100000;
  double minutes = 0;               ///< of a start, where epochs are left at its end
  std::int64_t evaluate_every = 0;  ///< 0: a fiftieth of the epochs
  std::int64_t snapshots = 21;
  std::int64_t timeline = 0;  ///< epochs
  bool monitor = false;
  NonFinite non_finite = NonFinite::stop;
  EngineConfig engine;

  void fields(core::FieldList& list);
  /// throws: ConfigError when no limit would ever end the run
  void check() const;
  std::int64_t evaluation_period() const;  ///< epochs
  /// The part of the run that ends with this epoch: a snapshot is kept at the first evaluation of each
  /// new part. 0 at the start, snapshots - 1 at the end; without a limit of epochs four parts in each
  /// doubling.
  std::int64_t snapshot_part(std::int64_t epoch) const;
};

/// The hooks of whoever moves gradients between ranks; empty functions do nothing.
struct ExchangeHooks {
  /// Called when gradients are finite and may begin to move.
  std::function<void(optim::UpdateStep&)> gradients_ready;
  /// Gradients must hold the group's now. False: no update yet, they are being collected.
  std::function<bool(optim::UpdateStep&)> before_update;
  std::function<void(optim::UpdateStep&)> after_update;
  std::function<void()> poll;  ///< between pieces of work
  /// How long this rank has waited for others in the calls above [s].
  std::function<double()> waited_s;
  /// Runs work that may take however long.
  std::function<void(const std::function<void()>& work)> between_steps;
  /// Given on a rank that does not compute: stands in place of a step's work.
  std::function<void(std::int64_t step)> serve;
  /// Where batch norms see the rows of all ranks; called within passes.
  nn::AddUp add_up;
  bool moves_weights = false;  ///< also where it says that no update follows
  /// After the last step: what is under way between ranks is over then.
  std::function<void()> close;
};

/// Thrown by who is polled: the epoch that is running is left, the loop goes back to a boundary
/// between epochs and ends there as interrupted. For stops that cannot wait for the epoch's end.
struct EpochGivenUp : std::exception {  // LibTorch passes no others on from within a gradient
  explicit EpochGivenUp(bool is_in_order) : in_order(is_in_order) {}
  bool in_order;  ///< false: others may be gone, so nothing follows that needs them
};

/// How a run ended.
struct LoopResult {
  std::int64_t epochs = 0;
  double time_s = 0;
  record::StopReason reason{};
  bool complete = true;
};

/// The training loop: steps of draw, gradients and update; each epoch of them is observed, until a
/// limit, an early stop or a request to stop.
class Loop {
 public:
  struct Callbacks {
    std::vector<record::Observer> observers;
    std::string unit = "events";  ///< what is learned from
    std::string
        remedy{};  ///< against gradients that are not finite, beside the update rule's settings
    /// Builds the evaluation of an epoch; called before the first epoch, every `evaluate_every` and
    /// at the end.
    /// Nothing: what it found comes later, from `late`.
    std::function<std::optional<record::Evaluated>()> evaluate;
    /// The oldest evaluation that has come later, with its epoch; asked between steps. What was under way
    /// before it never comes. wait: for what is under way.
    std::function<std::optional<record::Evaluated>(bool wait)> late;
    /// A reason to stop now, or none. Asked after each evaluation.
    std::function<record::StopReason(const record::Evaluated&)> should_stop;
    /// What update rules whose rate waits for a plateau watch, smaller where better. Empty: none does.
    std::function<std::optional<double>(const record::Evaluated&)> score;
    /// Epochs after which the run ends although its schedules go on; 0: all of them.
    std::int64_t until = 0;
    /// Set by a signal handler; read between epochs.
    std::function<bool()> interrupted;
    /// Asked before each step, with how many are over and this rank's reason to stop; returns the
    /// reason of all. Without it a rank decides alone. The loop's state may
    /// be taken here.
    std::function<record::StopReason(std::int64_t step, const record::StopReason& reason)> agree;
    /// Called after the last epoch, before its evaluation; the loop's state may be taken here, too.
    /// Returns whether other ranks, which had not come so far, were interrupted meanwhile: so is
    /// the run then.
    std::function<bool()> ended;
    /// Puts the state of an earlier boundary between epochs back, after an `EpochGivenUp`.
    std::function<void()> go_back;
    ExchangeHooks exchange;
    core::Tracer* tracer = nullptr;
  };

  Loop(LoopConfig config, optim::Optimizer& optimizer, Callbacks callbacks);

  /// throws: core::Error with the epoch when a gradient is not finite and the config says stop, or
  /// a stage fails; the optimizer is then as its last good update left it
  LoopResult run();
  /// Runs until that many epochs are over in total, without evaluations. For tests and resumed
  /// runs.
  void run_epochs(std::int64_t until) { run_steps(step_of_epoch(until)); }
  void run_steps(std::int64_t until);

  /// Takes the evaluations that have come later. wait: also those that are under way, for good. collective
  void take_late(bool wait);

  /// The state with nothing in flight: an exchange that is under way is completed first.
  void state(nn::StateList& list);
  /// Makes a run go on that had come to its end: what its early stop found is over.
  void go_on_after_end() { early_stop_ = {}; }
  /// Whether an exchange goes on between epochs.
  bool in_flight() const;
  std::int64_t step() const { return step_; }                      ///< that are over
  std::int64_t epoch() const { return step_ / steps_per_epoch_; }  ///< that are over
  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  double time_s() const { return time_s_; }
  /// Where the time went, since the run began.
  const PhaseClock& phases() const { return phases_; }
  const Engine& engine() const { return engine_; }

 private:
  /// Gradients that wait for their update.
  struct Pending {
    std::int64_t ready = 0;      ///< computed, and handed to the exchange
    std::int64_t exchanged = 0;  ///< the exchange is over
    std::int64_t updates = 1;    ///< 0: they are being collected
  };
  /// Sums over batches that are to make one update together.
  struct Collected {
    torch::Tensor gradients;  ///< each times its batch's weight; undefined: each batch makes one
    double weight = 0;
    std::int64_t batches = 0;
    void state(nn::StateList& list);
  };
  LoopResult turn();
  void run_until_a_reason();
  [[noreturn]] void end_by_failure(const std::exception& problem);
  double run_step();  ///< returns the events it analysed
  void compute(const optim::Pass& pass, optim::Batch& batch);
  bool make_ready(std::size_t step);
  void hand_over(std::size_t step);
  bool collect(std::size_t step, bool& is_usable);
  void complete_exchange(std::size_t step);
  void update(std::size_t step);
  bool is_finite(const optim::UpdateStep& step, const char* when) const;
  [[noreturn]] void refuse_gradient(const optim::UpdateStep& step, const char* when,
                                    std::int64_t epoch, const optim::Batch* batch) const;
  void run_on_gpu(std::size_t number, const char* name, const std::string& of,
                  const std::function<void()>& work, bool may_repeat = true);
  void run_as_graph(std::size_t number, const std::function<void()>& work);
  optim::Batch& draw();
  bool is_time_to_read() const;
  void read_gpu();
  void wait_for_gpu();
  void poll_while_gpu_works(const optim::UpdateStep& step) const;
  /// Steps that have left all weights alone, and whose gradient was the first.
  struct LostSteps {
    std::int64_t count = 0;
    const optim::UpdateStep* first = nullptr;
  };
  LostSteps lost_steps();
  record::StopReason breakdown() const;
  record::StopReason reason_to_stop() const;
  void observe(const record::Event& event) const;
  std::vector<record::NamedNumber> mean_losses(const torch::Tensor& means) const;
  torch::Tensor epoch_means() const;
  torch::Device device_of(const optim::Pass& pass) const;
  void observe_epoch();
  void begin_epoch();
  std::int64_t step_as_now(std::int64_t step, std::int64_t per_epoch) const;
  std::int64_t step_of_epoch(std::int64_t epoch) const { return epoch * steps_per_epoch_; }
  void evaluate();
  void take(record::Evaluated evaluated, std::int64_t epoch, double time_s);
  double progress() const;
  PhaseClock::Scope phase(PhaseClock::Part part, const char* name,
                          const optim::UpdateStep* of = nullptr) {
    return {phases_, part, name, step_ + 1, of != nullptr ? of->name.c_str() : nullptr};
  }
  bool interrupted() const { return callbacks_.interrupted && callbacks_.interrupted(); }

  LoopConfig config_;
  optim::Optimizer& optimizer_;
  Callbacks callbacks_;
  Engine engine_;
  PhaseClock phases_;
  std::function<void()> poll_;  ///< the exchange's, timed
  nn::AddUp add_up_;            ///< of batch norms, its time told apart
  const std::int64_t steps_per_epoch_;
  std::int64_t step_ = 0;             ///< steps that are over
  double time_s_ = 0;                 ///< training time, evaluations and recording left out
  double limit_from_s_ = 0;           ///< where the time limit begins to count: at its last end
  std::int64_t evaluated_step_ = -1;  ///< of the last evaluation
  bool is_evaluating_ = false;        ///< or has failed in it
  std::deque<std::pair<std::int64_t, double>> under_way_;  ///< epochs and times of evaluations
  /// Sums over the steps of the epoch that is running, read when it is observed, in the order of the
  /// schedule. [names]
  std::vector<std::pair<const optim::Pass*, torch::Tensor>> losses_;
  double epoch_events_ = 0, epoch_s_ = 0;  ///< of the epoch that is running
  std::int64_t epoch_steps_ = 0;           ///< of it, whose losses are summed
  const optim::Batch* batch_ = nullptr;    ///< of the step that is running
  std::unique_ptr<optim::Batch> drawn_;    ///< the same, unless its steps are graphs

  /// Of a training whose steps are graphs on a GPU.
  struct Captured {
    Captured(torch::Device device, bool is_alone) : work(device, is_alone) {}
    CapturedWork work;
    int graphs = 0;  ///< of the step that is running, see optim::Optimizer::Graphs
    std::map<int, std::unique_ptr<optim::Batch>>
        drawn{};  ///< whose tensors serve all steps of such graphs
  };
  std::unique_ptr<Captured> captured_;
  std::optional<GpuTrace> gpu_trace_;
  std::int64_t traced_epochs_ = 0;  ///< of this start

  /// Of a training on a GPU that nobody waits for before its numbers are observed.
  struct OnGpu {
    torch::Tensor not_finite;  ///< a flag of all update rules
    struct Epoch {
      record::EpochDone done;
      torch::Tensor means;  ///< losses of all passes
      double events;
    };
    std::vector<Epoch> epochs;   ///< that nobody has read yet
    std::int64_t read_step = 0;  ///< behind which the last numbers were read
    double read_s = 0;           ///< training time then
  };
  std::optional<OnGpu> on_gpu_;
  std::vector<Pending> pending_;      ///< by step
  std::vector<Collected> collected_;  ///< by step
  record::StopReason early_stop_;     ///< why the last evaluation wants an end
  record::StopReason stop_reason_;    ///< of all
};

}  // namespace sagips::train
