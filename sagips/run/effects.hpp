#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What a command does with a job, as far as keys have an effect or none by it.
struct Usage {
  std::string command;  ///< groups of settings that others have registered do nothing
  bool trains = true;   ///< networks
  std::vector<std::string> methods{};  ///< of `optim::solvers()` that run
  std::int64_t ranks = 1;              ///< of a training
  std::int64_t waiting_ranks = 1;      ///< for each other, over all trainings
  bool in_blocks = false;  ///< trainings run on the ranks that were started, not in children
  bool folds = false;      ///< its trainings keep one part after the other aside
  /// Keys that its trainings differ in: what others beside them need is another thing in each.
  std::vector<std::string> varied{};
};

/// One line that names the keys without effect, and what each needs to have one; empty: all have. A key
/// counts whose value differs from that of the workload's own settings, of those from which the job differs
/// least, so that a config that a run has written is as silent as what it began from.
/// throws: ConfigError for those without which nobody would learn what was asked for: `optimizer` with GEM
std::string keys_without_effect(const Workloads& workloads, Job& job, const Usage& usage);

/// Warns of them, once for all ranks.
void warn_without_effect(const Workloads& workloads, Job& job, const Usage& usage,
                         const comm::Ranks& ranks, core::Log& log);

/// Keys that the trainings of a study differ in: each should have an effect in one of them at least.
class VariedKeys {
 public:
  /// usage: without `varied`
  VariedKeys(std::vector<std::string> keys, Usage usage);
  void look_at(const Workloads& workloads, Job& training);
  /// "no effect in any training: momentum (needs rule=sgd)"; empty: all have one, or no training was looked at.
  std::string remark() const;

 private:
  std::vector<std::string> keys_;
  Usage usage_;
  std::map<std::string, std::string> needs_;  ///< by key; empty: it has an effect
};

/// A line on a warm-up that outlasts the run, or a run too short for an update; empty: neither, or nobody
/// knows. place: of the rule in a config; batches: for it in the run; ranks: that compute
std::string remark_on_updates(const Job& job, const std::string& place,
                              const optim::UpdateConfig& rule, std::int64_t batches,
                              std::int64_t ranks);

/// What keys need that say how weights are updated, where GEM moves them.
extern const char* const no_gem;
/// Whether GEM moves the central weights of an exchange of this training.
bool has_gem(const Job& job, const Usage& usage);
/// Refuses a key that no other place would tell of. throws: ConfigError
[[noreturn]] void refuse_with_gem(const std::string& key);

}  // namespace sagips::run
