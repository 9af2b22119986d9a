#include "sagips/comm/served/owner.hpp"

namespace sagips::comm {

Owner::Owner(const Group& group, const std::vector<int>& clients, std::size_t workers, Piece piece,
             const ServedConfig& config, bool synchronous, const Site& site)
    : piece_(piece),
      server_(group, clients, workers, piece.size, config.rule, site.update, synchronous) {
  if (site.timeout == nullptr) return;
  server_.came = [&status = site.timeout->status()](int from, bool is_last) {
    status.heard(from, is_last);
  };
}

void Owner::begin(std::span<const float> weights) {
  if (!server_.has_begun()) server_.begin(weights.subspan(piece_.first, piece_.size));
  steps_at_begin_ = server_.steps();
}

std::int64_t Owner::due(Step step, std::size_t workers, std::int64_t every) {
  const auto count = static_cast<std::int64_t>(workers);
  if (!earlier_steps_)
    earlier_steps_ = (step.update - 1) * count - static_cast<std::int64_t>(steps_at_begin_);
  // what is collected within a period comes at its end
  return step.update / every * every * count - *earlier_steps_;
}

}  // namespace sagips::comm
