#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/record/event.hpp"

namespace sagips::train {

/// Lets all ranks stop for the same reason, and those that wait for each other after the same epoch;
/// and lets them write checkpoints at such epochs.
///
/// Rank 0 decides. Ranks that wait for others hear from it at agreed epochs, some four times a
/// second; ranks that never wait are told when it happens and ask without waiting.
class StopAgreement {
 public:
  /// What rank 0 wants before an epoch; what others want counts for nothing.
  struct Request {
    record::StopReason stop{};
    std::int64_t checkpoint = 0;  ///< the number of one that is due; 0: none
    std::int64_t meet_by = 0;     ///< an epoch at which ranks that wait are to meet; 0: any
  };
  /// What this rank is to do before an epoch.
  struct Decision {
    record::StopReason stop{};
    std::int64_t checkpoint = 0;
  };

  /// `waits`: whether this rank ever waits for another one. collective
  StopAgreement(comm::Ranks& ranks, bool waits);

  /// Called before each epoch: gives rank 0's decision.
  Decision operator()(std::int64_t epoch, const Request& request);

  /// Called on rank 0 once its own epochs are over: tells its decision to ranks that never wait and
  /// go on. The others have heard of every meeting by then.
  Decision after_last_epoch(const Request& request);

  /// Rank 0 has finished: the others may go. Everybody stays until it says so. collective
  void part();

 private:
  struct Message {
    enum class What : std::int64_t { news, end } what = What::news;  ///< end: the last of all
    record::StopReason::Kind stop{};
    std::int64_t checkpoint = 0;
    std::int64_t next_meeting = 0;
    std::array<char, 112> reason{};
  };
  Decision decide(std::int64_t epoch, const Request& request);
  Decision hear(std::int64_t epoch);
  static Message message_of(const Request& request);
  void tell(const std::vector<int>& whom, const Message& message);
  void expect();
  std::int64_t meeting_after(std::int64_t epoch);

  comm::Ranks& ranks_;
  bool waits_;
  std::vector<int> waiting_, free_;  ///< the other ranks; on rank 0
  std::int64_t next_meeting_ = 1;
  std::optional<std::int64_t> last_meeting_{};
  std::int64_t last_meeting_ns_;
  Message sent_, received_;
  std::vector<comm::Request> under_way_;
  comm::Request expected_;  ///< of ranks that never wait
  bool told_ = false;       ///< this rank has heard that the run is to stop
};

}  // namespace sagips::train
