#pragma once
#include <functional>

#include "sagips/comm/group.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// An inner exchange in each group every epoch, and every `outer_every` epochs an outer one between
/// the leaders of the groups.
///
/// Between outer epochs groups drift apart, and where an outer epoch changes only the leaders they
/// drift from their groups as well: nothing brings weights together again. `averaged` bounds that.
/// The rule inner_then_outer is the paper's table read word by word (inner every epoch, outer every
/// h epochs); only with it, or outer_only, can one-sided groups go on while a member is slow.
///
/// cost:    the inner exchange's; on outer epochs what the rule says
/// source:  SAGIPS paper, Sec. IV-B4, Tab. I (groups, leader of rank 0, period h); the rule
///          outer_only is how the authors' published code reads that section
class Grouped final : public Exchange {
 public:
  /// What happens on an outer epoch.
  enum class Rule {
    inner_then_outer_then_broadcast,  ///< all ranks end with the mean over all groups
    inner_then_outer,                 ///< leaders do; the others keep their group's mean
    outer_only,  ///< leaders exchange their own gradients; the others use theirs alone
  };
  enum class Leader { fixed, drawn };
  struct Config {
    std::string inner = "ring";
    std::string outer = "ring";
    std::int64_t group_size = 0;
    std::int64_t outer_every = 5;
    Leader leader = Leader::fixed;
    Rule rule = Rule::inner_then_outer;
    void fields(core::FieldList& list);
  };

  /// Makes an exchange over some ranks; called in the same order on all ranks.
  using Maker = std::function<std::unique_ptr<Exchange>(const std::string& name, const Site& site,
                                                        std::vector<int> ranks)>;
  Grouped(const Config& config, const Site& site, const Maker& make);

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override;
  std::vector<int> partners(Step step) const override;
  std::int64_t period() const override { return config_.outer_every; }
  bool ever_waits(int rank) const override;
  Freshness freshness() const override;
  std::string description() const override;
  void state(StateList& list) override;

 private:
  bool is_outer(Step step) const { return step.number() % config_.outer_every == 0; }
  bool broadcasts() const {  // a single group has nothing to hear
    return config_.rule == Rule::inner_then_outer_then_broadcast && groups_.size() > 1;
  }
  /// Whose turn it is to lead: the ranks in this place of their groups (modulo the group's size).
  std::size_t turn(Step step) const;
  int leader(std::size_t turn) const;
  bool leads(std::size_t turn) const { return leader(turn) == group_.index(); }
  Task broadcast(std::span<float> values, int leader);

  Config config_;
  std::uint64_t seed_;
  std::vector<std::vector<int>> groups_;
  Group group_;
  std::unique_ptr<Exchange> inner_;
  std::vector<std::unique_ptr<Exchange>> outer_;  ///< by turn
  float weight_ = 1;  ///< of this group's mean among the means of all, for groups of different size
};

}  // namespace sagips::comm
