#include "sagips/comm/exchanges/averaged.hpp"

#include <numeric>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void Averaged::Config::fields(core::FieldList& list) {
  list.add("inner", inner, "exchange of every epoch");
  list.add("mean", mean, "exact exchange that averages the weights");
  list.add("every", every, "epochs from one averaging of weights to the next",
           core::Range::between(1, 4294967295.0));
}

Averaged::Averaged(const Config& config, std::unique_ptr<Exchange> inner,
                   std::unique_ptr<Exchange> mean)
    : config_(config), inner_(std::move(inner)), mean_(std::move(mean)) {
  if (!mean_->promise().is_whole_mean())
    throw core::ConfigError(
        "exchanges.averaged.mean",
        core::text("'", config_.mean, "' ",
                   mean_->promise().rounds ? "does not send all of the weights. "
                                           : "is not exact (ranks would not end with the same "
                                             "weights). ",
                   "Use rabenseifner, all_reduce or ring."));
}

Task Averaged::gradients(ReplicaView replica, Step step) {
  co_await inner_->gradients(replica, step);
}

Task Averaged::mix_weights(ReplicaView replica, Step step) {
  co_await inner_->mix_weights(replica, step);
  if (is_time(step)) co_await mean_->gradients({replica.weights, replica.weights}, step);
}

Cost Averaged::cost(std::size_t floats, Step step) const {
  Cost cost = inner_->cost(floats, step);
  if (is_time(step)) cost += mean_->cost(floats, step);
  return cost;
}

Promise Averaged::promise() const {
  const Promise inner = inner_->promise();
  return {.exact = inner.exact,
          .waits = true,
          .repeats = inner.repeats,
          .resumes = inner.resumes,
          .rounds = inner.rounds,
          .uses_weights = true};
}

std::vector<int> Averaged::partners(Step step) const {
  return is_time(step) ? mean_->partners(step) : inner_->partners(step);
}

std::int64_t Averaged::period() const { return std::lcm(inner_->period(), config_.every); }

std::string Averaged::description() const {
  return core::text(inner_->description(), "; weights averaged every ", config_.every,
                    " epochs by ", mean_->description());
}

void Averaged::state(StateList& list) { inner_->state(list); }

}  // namespace sagips::comm
