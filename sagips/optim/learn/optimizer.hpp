#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/optim/learn/batch.hpp"
#include "sagips/optim/learn/update_step.hpp"

namespace sagips::optim {

/// Whatever learns by gradients: networks, and what their losses come from. One training loop serves all
/// of them.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// The batch of a step, a pure function of the seed and the step (counts from 1).
  virtual std::unique_ptr<Batch> draw(std::uint32_t step) const = 0;
  /// Which graphs a step is made of on a GPU.
  struct Graphs {
    /// Steps of the same number differ by numbers on the GPU alone, once `redraw` has filled the tensors of an
    /// earlier batch. Negative: this one can be no graph.
    int number = -1;
    bool draws = false;  ///< `redraw`, too, differs by the step's random numbers alone
  };
  virtual Graphs graphs_of(std::uint32_t /*step*/) const { return {}; }
  /// The same batch as `draw`, into the tensors of one that was drawn before for a step of the same graphs.
  virtual void redraw(Batch&, std::uint32_t /*step*/) const {}
  /// Steps of an epoch as a user counts: those of a pass over the data, where there is one.
  virtual std::int64_t steps_per_epoch() const { return 1; }
  virtual std::vector<UpdateStep>& steps() = 0;
  virtual std::vector<Pass>& passes() = 0;
  /// The order in which a step computes gradients and updates.
  virtual std::vector<Action> schedule() const = 0;

  /// Where in a batch a number that is not finite comes from: "stage 'x' of the pipeline
  /// 'y' gives NaN or infinity for (1.2, 3)"; empty: there are no pipelines.
  virtual std::string origin_of_non_finite(const Batch&) { return {}; }

  /// Why no further step would be of use, and what to do: the training has failed. Empty: it goes on. Asked
  /// between steps.
  virtual std::string reason_to_stop() const { return {}; }

  virtual void state(nn::StateList& list) = 0;
};

}  // namespace sagips::optim
