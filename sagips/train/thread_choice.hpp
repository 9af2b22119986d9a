#pragma once
#include <cstdint>
#include <vector>

namespace sagips::train {

/// Finds by trial how many threads pay for work that is repeated. It begins with all of them; a trial
/// compares the number in use with one, half or twice as many. Blocks of repetitions with either take
/// turns, so that whatever else the machine does meets both, and medians decide. Later trials follow
/// the load as it changes: at once where the work has become slower, else so seldom that what they
/// lose stays below a fiftieth. No result may depend on what it says.
class ThreadChoice {
 public:
  explicit ThreadChoice(int most);

  int most() const { return most_; }
  /// How many shall take the next repetition.
  int next() const { return candidates_turn_ ? candidate_ : in_use_; }
  /// The repetition by `next()` took so long for so many samples.
  void took(double seconds, std::int64_t samples);
  /// How many have been found to pay.
  int in_use() const { return in_use_; }

 private:
  /// Repetitions in a row by as many threads.
  struct Block {
    double seconds = 0;
    std::int64_t samples = 0;
    double per_sample() const { return seconds / static_cast<double>(samples); }
  };
  enum class Candidate { one, half, twice };
  bool try_out(Candidate kind);
  void end_turn(const Block& block);
  void decide(bool candidate_is_better);
  void wait(const Block& block);

  int most_, in_use_, candidate_ = 0;  ///< candidate: 0 between trials
  Candidate kind_ = Candidate::one;    ///< of this trial, or of the last
  bool candidates_turn_ = false;
  bool is_first_ = true;                  ///< what is made at a first time belongs to nobody
  Block block_;                           ///< that has begun
  int rounds_ = 0;                        ///< of the trial, both have had their turn in each
  Block candidates_work_;                 ///< in the whole trial
  std::vector<double> own_, candidates_;  ///< time of a sample in each round but the first [s]
  double usual_ = 0;                      ///< the same, as the last trial has found it
  double pause_s_ = 0;                    ///< until the next trial
  int slow_blocks_ = 0;                   ///< in a row
};

}  // namespace sagips::train
