#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sagips/comm/group.hpp"
#include "sagips/comm/served/owner.hpp"
#include "sagips/comm/served/served_plan.hpp"
#include "sagips/comm/served/sub_master.hpp"
#include "sagips/comm/served/team.hpp"
#include "sagips/comm/served/weight_client.hpp"

namespace sagips::comm {

/// Workers and central weights: each piece of these has an owner, which moves it by what workers send and
/// answers them. Downpour, EASGD and GEM; see `make_central_rule`.
///
/// `all`: every rank computes and owns a piece. `nodes`: so does the first rank of each node. `master`:
/// some ranks, each on another node while there are any, own pieces and do not compute. Asynchronous
/// workers wait for masters, which do nothing else; for ranks that compute a quarter of a step at most,
/// since these answer between their layers: then they go on with what they have heard, and what they could
/// not send yet is sent together later. Synchronous ones wait for each other. With `groups`, each has a
/// sub-master, which is a worker of rank 0.
///
/// cost:    two messages to each owner and one back, together 8 * shared bytes, every `every` updates;
///          a master sends 4 * shared bytes to each of its workers
/// source:  Dean et al., NeurIPS 2012 (owners of pieces, Downpour); Zhang et al., arXiv 1412.6651 (EASGD);
///          Hermans, Louppe, arXiv 1805.08469 (GEM); sub-masters: Anderson et al., arXiv 1712.05878
class Served final : public Exchange, public CentralWeights {
 public:
  using Config = ServedConfig;
  using Owners = ServedConfig::Owners;
  /// Makes an exchange by name for the ranks that work as one.
  using MakeInner = std::function<std::unique_ptr<Exchange>(const Site&, std::vector<int> ranks)>;

  /// throws: core::ConfigError for settings that contradict each other or the number of ranks
  Served(const Config& config, const Site& site, const MakeInner& make_inner);

  Task gradients(ReplicaView replica, Step step) override;
  Task mix_weights(ReplicaView replica, Step step) override;
  bool updates(Step) const override { return !config_.rule.sends_gradients(); }
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override;
  std::vector<int> partners(Step step) const override;
  bool ever_waits(int rank) const override;
  std::int64_t period() const override { return config_.every; }
  Freshness freshness() const override;
  std::string description() const override;
  CentralWeights* central_weights() override { return this; }
  void state(StateList& list) override;

  void poll() override { serve_clients(); }
  void pause() override;
  void resume() override;
  bool computes() const override { return team_.has_value(); }
  /// Teams of ranks that compute, each a worker.
  std::size_t workers() const { return plan_.teams.size(); }
  void begin(std::span<const float> weights) override;
  Task serve(ReplicaView replica, Step step) override;
  Task close() override;
  std::vector<int> readers() const override;
  Task look(std::span<float> into, Look which) override;
  std::span<const float> last() const override {
    return closed_ ? std::span<const float>(last_) : std::span<const float>();
  }
  /// Steps of workers in this rank's piece; 0 where it owns none.
  std::uint64_t steps_applied() const override { return own_ ? own_->server().steps() : 0; }
  std::uint64_t updates_applied() const override { return own_ ? own_->server().version() : 0; }

 private:
  void make_ends();
  void make_ends_of_parents();
  bool serve_clients();
  /// For a wait, in which this rank has nothing else to do: ready, or all that has come is served.
  template <class Predicate>
  bool serves_until(Predicate ready) {
    for (;;) {
      const bool more = serve_clients();
      if (ready()) return true;
      if (!more) return false;
    }
  }
  /// Every client on this rank, which owners of other nodes hear of.
  template <class Work>
  void each_client(Work work);
  bool is_idle();
  bool has_heard_enough(std::int64_t until_ns);
  bool is_parent() const { return !plan_.parents.empty() && group_.index() == 0; }
  /// Whether this rank computes and speaks for its team.
  bool leads() const { return team_ && team_->leads(); }
  bool has_team() const { return team_ && !team_->is_alone(); }
  Exchange* inner() const { return team_ ? team_->inner() : nullptr; }
  WeightServer* server() { return own_ ? &own_->server() : nullptr; }

  Config config_;
  Site site_;
  ServedPlan plan_;
  Group group_;               ///< all ranks; two tags for pieces, one in teams
  Group parents_;             ///< all ranks; two tags between sub-masters and their parent
  std::optional<Team> team_;  ///< none: this rank does not compute
  std::optional<Owner> own_;  ///< this rank owns a piece
  std::unique_ptr<WeightClient> worker_;  ///< this rank meets owners
  std::optional<SubMaster> sub_master_;
  std::int64_t resumed_ns_ = 0;  ///< when this rank last went on with a step
  bool begun_ = false, closed_ = false;
  std::vector<float> last_;  ///< central weights at the end
};

}  // namespace sagips::comm
