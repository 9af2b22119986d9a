#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"

namespace sagips::train {

/// Lets all ranks stop for the same reason, and those that wait for each other after the same epoch;
/// and lets them write checkpoints at such epochs.
///
/// Rank 0 decides. Ranks that wait for others hear from it at agreed epochs, some four times a
/// second; ranks that never wait are told when it happens and ask without waiting.
class Accord {
 public:
  /// What rank 0 wants before an epoch; what others want counts for nothing.
  struct Wish {
    std::string stop{};           ///< the reason; empty: none
    std::int64_t checkpoint = 0;  ///< the number of one that is due; 0: none
    std::int64_t meet_by = 0;     ///< an epoch at which ranks that wait are to meet; 0: any
  };
  /// What this rank is to do before an epoch.
  struct Word {
    std::string stop{};
    std::int64_t checkpoint = 0;
  };

  /// `waits`: whether this rank ever waits for another one. collective
  Accord(comm::Ranks& ranks, bool waits);

  /// Before each epoch: rank 0's word.
  Word operator()(std::int64_t epoch, const Wish& wish);

  /// On rank 0 once its own epochs are over: its word to ranks that never wait and go on. The others
  /// have heard of every meeting by then.
  Word after_last_epoch(const Wish& wish);

  /// Rank 0 has finished: the others may go. Everybody stays until it says so. collective
  void part();

 private:
  struct Verdict {
    std::int64_t stop = 0;
    std::int64_t checkpoint = 0;
    std::int64_t next_meeting = 0;
    std::array<char, 112> reason{};
  };
  Word decide(std::int64_t epoch, const Wish& wish);
  Word hear(std::int64_t epoch);
  static Verdict verdict_on(const Wish& wish);
  void tell(const std::vector<int>& whom, const Verdict& verdict);
  void expect();
  std::int64_t meeting_after(std::int64_t epoch);

  comm::Ranks& ranks_;
  bool waits_;
  std::vector<int> waiting_, free_;  ///< the other ranks; on rank 0
  std::int64_t next_meeting_ = 1;
  std::int64_t last_meeting_ = 0;
  std::int64_t last_meeting_ns_;
  Verdict sent_, received_;
  std::vector<comm::Request> under_way_;
  comm::Request expected_;  ///< of ranks that never wait
  bool told_ = false;       ///< this rank has heard that the run is to stop
};

}  // namespace sagips::train
