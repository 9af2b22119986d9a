#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sagips/comm/served/served_plan.hpp"
#include "sagips/comm/served/weight_server.hpp"

namespace sagips::comm {

/// A rank that owns a piece of the central weights, and how far it serves before it goes on.
class Owner {
 public:
  /// As WeightServer. site: gives the update rule, and the timeout that hears of clients
  Owner(const Group& group, const std::vector<int>& clients, std::size_t workers, Piece piece,
        const ServedConfig& config, bool synchronous, const Site& site);

  /// weights: all of them; what a state has put back stays
  void begin(std::span<const float> weights);
  WeightServer& server() { return server_; }
  const WeightServer& server() const { return server_; }
  /// Its piece of these.
  std::span<float> piece_of(std::span<float> all) const { return part(all, piece_); }
  std::size_t size() const { return piece_.size; }
  /// Steps of so many workers that come to this owner until each has made this step.
  std::int64_t due(Step step, std::size_t workers, std::int64_t every);

 private:
  Piece piece_;
  WeightServer server_;
  /// Steps that workers had made when this process began to serve, beyond those in the weights: other
  /// ranks or another batch count anew.
  std::optional<std::int64_t> earlier_steps_;
  std::uint64_t steps_at_begin_ = 0;
};

}  // namespace sagips::comm
