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
    /// Wait as long as they show signs of life, and leave the processor to others meanwhile: for
    /// ranks that are not expected soon. Ranks of other nodes count as alive.
    bool however_long = false;
    /// As long as this number changes, they come: the time limit begins anew.
    std::function<std::uint64_t()> count{};
  };
  /// throws: CommError
  void wait(Condition& condition, const Whom& whom);
  /// throws: CommError when a rank of this node has died. Cheap unless there is an alarm.
  void look_after();
  /// throws: CommError when a rank of this node has died
  void check_deaths() const;

  RankStatus& status() { return status_; }
  void set_config(Config config) { config_ = std::move(config); }
  const Config& config() const { return config_; }

 private:
  void wait_long(Condition& condition, const Whom& whom);
  [[noreturn]] void give_up(const Whom& whom) const;

  Communicator& communicator_;
  RankStatus& status_;
  Config config_;
};

}  // namespace sagips::comm
