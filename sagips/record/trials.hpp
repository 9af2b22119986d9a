#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sagips::record {

/// That a worker runs a trial: which settings it has, and who is at work.
struct TrialClaim {
  std::int64_t number = 0;   ///< of the trial, from 1
  std::int64_t attempt = 1;  ///< it was given back so often, and once more is
  std::string worker{};
  double time_s = 0;                    ///< when, since 1970
  std::vector<double> point{};          ///< in the unit cube
  std::vector<std::string> settings{};  ///< "optimizer.learning_rate=0.001"
  std::int64_t from = 0;                ///< trial whose networks it goes on with; 0: none
  std::int64_t member = 0;              ///< of a population, from 1
  std::int64_t trainings = 1;           ///< of it: folds or seeds
};

/// The metric on the way.
struct TrialReport {
  std::int64_t fold = 1;  ///< or seed: which of the trainings of the trial, from 1
  double epochs = 0;      ///< of this fold
  double value = 0;       ///< of this fold
  bool last = false;      ///< the fold is over
  double time_s = 0;      ///< of the fold, which is over
};

/// How a trial has ended.
struct TrialEnd {
  enum class State { done, ended_early, failed };
  State state = State::done;
  std::string reason{};            ///< of an early end or a failure
  std::optional<double> value{};   ///< the metric, its mean over folds or seeds
  std::optional<double> spread{};  ///< standard deviation over folds or seeds
  double epochs = 0;               ///< over all folds or seeds
  double time_s = 0;               ///< of training
  double ended_s = 0;              ///< when, since 1970
};

/// All that is known of a trial.
struct TrialRecord {
  TrialClaim claim{};  ///< the newest one
  std::vector<TrialReport> reports{};
  std::optional<TrialEnd> end{};
  double first_claimed_s = 0;
  std::int64_t signals = 0;     ///< that have ended it so far
  std::int64_t given_back = 0;  ///< attempt that was given back last
  /// Its owner has stopped, and nobody has claimed it since.
  bool waits() const { return !end && given_back >= claim.attempt; }
};

/// The trials of a study in its folder, which is all that its workers share: no process serves it, and
/// no lock is held. A trial belongs to who makes its next claim file, which the file system lets one
/// process do; the reports of each of its trainings are lines of a file that one process adds to, its end
/// is a line of the first. An owner that gives no sign of life for as long as the lease gives the trial
/// back, at once where its process is known to be gone.
///
/// Any number of processes on any number of machines that see the folder may have one of these each.
class TrialStore {
 public:
  /// folder: made if it is missing. throws: StorageError
  TrialStore(std::string folder, double lease_s);

  /// All trials by number, as far as they can be read now; the numbers have no gaps.
  const std::map<std::int64_t, TrialRecord>& read();
  /// As they were read last: files are not looked at.
  const std::map<std::int64_t, TrialRecord>& trials() const { return trials_; }
  /// Makes a trial this process's own. False when another one was faster.
  bool claim(TrialClaim claim);
  /// Whether nobody is at work on a trial that has not ended.
  bool is_free(const TrialRecord& trial) const;
  /// Whether this claim is still the newest one of its trial.
  bool owns(std::int64_t number, std::int64_t attempt) const;
  /// A sign of life for a trial that this process owns; often enough is a quarter of the lease.
  void beat(std::int64_t number, std::int64_t attempt) const;
  void report(std::int64_t number, const TrialReport& report) const;
  /// Only the first end of a trial counts.
  void end(std::int64_t number, TrialEnd end) const;
  /// Its owner stops, and others need not wait for the lease.
  /// signal: that has ended the trial; 0: none
  void give_back(std::int64_t number, std::int64_t attempt, int signal = 0) const;

 private:
  std::string claim_file(std::int64_t number, std::int64_t attempt) const;
  std::string lines_file(std::int64_t number, std::int64_t training = 1) const;
  void read_claim(std::int64_t number, std::int64_t attempt);
  void read_lines(std::int64_t number);

  std::string folder_, id_;
  double lease_s_;
  std::map<std::int64_t, TrialRecord> trials_;
  std::map<std::int64_t, std::uintmax_t> sizes_;  ///< of the lines that were read
};

/// "done", "ended early", "failed"
std::string word_of(TrialEnd::State state);
/// One of these, "running" or "waits".
std::string word_of(const TrialRecord& trial);

/// A trial that has ended, its settings and metric, as JSON. throws: StorageError
void write_trial(const std::string& path, const TrialRecord& trial, const std::string& metric);

/// Seconds since 1970.
double wall_clock_s();

}  // namespace sagips::record
