#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sagips/comm/rank_status.hpp"
#include "sagips/comm/task.hpp"

namespace sagips::comm {

/// Waits for conditions, but not for ever: a partner that does not come within the time limit, or
/// whose process is gone, is an error that names it.
class Timeout {
 public:
  struct Config {
    double timeout_s = 300;
    /// Set by a signal handler: the launcher may be taking the job down because a rank died. May
    /// throw to leave what waits.
    std::function<bool()> alarmed;
  };
  Timeout(Communicator& communicator, RankStatus& status, Config config);

  /// Who is waited for, for the message of an error.
  struct Whom {
    std::vector<int> partners{};
    int exchange = 0;
    std::uint64_t call = 0;
    std::string what{};  ///< "to the exchange of the generator's gradients"
    /// Wait as long as they (all ranks, where none are named) show signs of life, and leave the processor
    /// to others meanwhile: for ranks that are not expected soon.
    bool however_long = false;
    /// As long as this number changes, they come, and the time limit begins anew for those who show
    /// signs of life.
    std::function<std::uint64_t()> count{};
  };
  /// throws: CommError
  void wait(Condition& condition, const Whom& whom);
  /// For ranks that do not wait, between pieces of work. Cheap but now and then. Silence is expected of
  /// ranks whose pieces take a quarter of the time limit and more.
  /// throws: CommError when there is an alarm and a rank of this node has died, or when one shows no sign
  /// of life for the time limit
  void look_after();
  /// throws: CommError when a rank of this node has died
  void check_deaths() const;

  /// How often signs of life are given and looked for.
  std::int64_t sign_period_ns() const;
  RankStatus& status() { return status_; }
  void set_config(Config config) { config_ = std::move(config); }
  const Config& config() const { return config_; }

 private:
  /// What this rank has seen of another one's signs of life.
  struct Watched {
    std::int64_t sign_ns = 0;    ///< the last one; 0: there are none to look for
    std::int64_t silent_ns = 0;  ///< how long this rank has looked since, and seen no other
  };
  void heed_alarm();
  void check_silence(const std::vector<int>& ranks);
  void wait_long(Condition& condition, const Whom& whom);
  [[noreturn]] void give_up(const Whom& whom) const;

  Communicator& communicator_;
  RankStatus& status_;
  Config config_;
  std::vector<Watched> watched_;  ///< by rank
  std::int64_t looked_ns_ = 0;    ///< when these were last looked at
};

}  // namespace sagips::comm
