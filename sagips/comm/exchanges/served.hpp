#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sagips/comm/group.hpp"
#include "sagips/comm/served/weight_client.hpp"
#include "sagips/comm/served/weight_server.hpp"

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
  enum class Owners { all, nodes, master };
  struct Config {
    CentralRuleConfig rule;
    Owners owners = Owners::all;
    std::int64_t masters = 1, groups = 0, parent_every = 10, ranks_per_worker = 1, every = 1;
    std::string inner = "rabenseifner";
    bool synchronous = false;
    void fields(core::FieldList& list);
    /// The ranks that serve and do not compute, rank 0 first, as far apart as nodes allow. nodes: of each
    /// rank. throws: core::ConfigError where none would compute
    std::vector<int> serving_ranks(const std::vector<int>& nodes) const;
  };
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
  bool computes() const override { return !team_.empty(); }
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
  std::uint64_t steps_applied() const override { return own_ ? own_->steps() : 0; }
  std::uint64_t updates_applied() const override { return own_ ? own_->version() : 0; }

 private:
  /// Who serves whom.
  struct Plan {
    std::vector<int> serving;  ///< ranks that do not compute
    std::vector<int> owners;   ///< of the pieces that this rank's workers or clients meet
    std::vector<int> workers;  ///< first ranks of the teams that are served by these
    std::vector<std::vector<int>> teams;  ///< all of them
    std::vector<int> parents;  ///< rank 0 where there are sub-masters, which are then here:
    std::vector<int> children;
  };
  static Plan plan_of(const Config& config, const Site& site);
  static void take_group(Plan& plan, int rank, std::int64_t groups);
  void make_ends(const Site& site, std::size_t floats);
  void make_ends_of_pieces(const Site& site, std::size_t floats);
  void make_ends_of_parents(const Site& site, std::size_t floats);
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
  void report_to_parent();
  bool is_time(Step step) const { return step.update % config_.every == 0; }
  /// Whether this rank speaks for its team.
  bool leads() const { return !team_.empty() && team_.front() == group_.communicator().rank(); }
  bool waits() const { return config_.synchronous || config_.owners == Owners::master; }
  bool is_idle();
  bool has_heard_enough(std::int64_t until_ns);
  Task send_to_team(std::span<float> weights);
  double alpha(std::size_t workers) const {
    return config_.rule.force / static_cast<double>(workers);
  }

  Config config_;
  Site site_;
  Plan plan_;
  Group group_;            ///< all ranks; two tags for pieces, one in teams
  Group parents_;          ///< all ranks; two tags between sub-masters and their parent
  std::vector<int> team_;  ///< of this rank, itself included; empty: it does not compute
  Piece own_piece_{};
  std::unique_ptr<WeightServer> own_;     ///< this rank owns a piece
  std::unique_ptr<WeightClient> worker_;  ///< this rank meets owners
  std::unique_ptr<WeightClient> child_;   ///< a sub-master's end towards its parent
  std::unique_ptr<Exchange> inner_;
  std::uint64_t reported_version_ = 0, reported_steps_ = 0;
  /// Steps that workers had made when this process began to serve, beyond those in the weights: other
  /// ranks or another batch count anew.
  std::optional<std::int64_t> earlier_steps_;
  std::uint64_t steps_at_begin_ = 0;  ///< in this rank's piece
  std::int64_t resumed_ns_ = 0;       ///< when this rank last went on with a step
  bool begun_ = false, closed_ = false;
  std::vector<float> last_;                    ///< central weights at the end
  bool left_parent_ = false, parted_ = false;  ///< a sub-master, and its parent has answered
};

}  // namespace sagips::comm
