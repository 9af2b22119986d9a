#include "sagips/comm/served/sub_master.hpp"

#include <utility>

namespace sagips::comm {

SubMaster::SubMaster(const Group& parents, std::size_t floats, const ServedConfig& config,
                     std::size_t siblings, WeightServer& own)
    : config_(config),
      alpha_(config.alpha(siblings)),
      own_(own),
      client_(parents, {{0, {0, floats}}}, floats, {config.rule.sends_gradients(), false},
              nullptr) {
  if (config.rule.sends_gradients())
    own.before_round = [this](std::span<const Arrival> round, std::uint64_t steps) {
      const Arrival& one = round.front();  // asynchronous: there are no more
      client_.collect(one.values, steps, one.progress);
    };
  own.may_part = [this] { return leaving_ == Leaving::done; };
}

void SubMaster::report() {
  const std::span<float> central = own_.weights();
  const bool has_heard = client_.all_answered();  // first: what comes later is taken the next time
  if (config_.rule.sends_gradients())
    client_.take_central(central);
  else
    client_.take_elastically(central, alpha_);
  if (own_.is_over()) return leave(has_heard);
  const auto every = static_cast<std::uint64_t>(config_.parent_every);
  if (!has_heard || own_.version() < reported_version_ + every) return;
  reported_version_ = own_.version();
  if (config_.rule.sends_gradients())
    client_.send_collected();
  else
    client_.send_weights(central, own_.steps() - std::exchange(reported_steps_, own_.steps()));
}

void SubMaster::leave(bool has_heard) {
  if (leaving_ == Leaving::done || !has_heard) return;
  if (leaving_ == Leaving::no) client_.leave(own_.weights());
  leaving_ = leaving_ == Leaving::no ? Leaving::asked : Leaving::done;
}

void SubMaster::state(StateList& list) {
  list.part("child", client_);
  std::vector<double> reported{static_cast<double>(reported_version_),
                               static_cast<double>(reported_steps_)};
  list.field("served.reported", reported);
  reported_version_ = static_cast<std::uint64_t>(reported[0]);
  reported_steps_ = static_cast<std::uint64_t>(reported[1]);
}

}  // namespace sagips::comm
