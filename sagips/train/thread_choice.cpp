#include "sagips/train/thread_choice.hpp"

#include <algorithm>
#include <utility>

namespace sagips::train {

namespace {

constexpr double block_s = 0.01;  // more than a scheduler gives away at a time
constexpr std::size_t fewest_rounds = 3, most_rounds = 7;
constexpr double clearly = 1.25;  // slower in each round: the trial is over
constexpr double hopeless = 4;    // slower in one
constexpr double pays = 0.95;     // of the time: what more threads must reach
constexpr double least_pause_s = 5, pauses_per_loss = 50;
constexpr double changed = 1.3;  // slower than usual in so many blocks: the load is another one
constexpr int changed_blocks = 3;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool each_faster(const std::vector<double>& one, const std::vector<double>& other) {
  return *std::max_element(one.begin(), one.end()) * clearly <
         *std::min_element(other.begin(), other.end());
}

}  // namespace

ThreadChoice::ThreadChoice(int most) : most_(most), in_use_(most) { try_out(Candidate::one); }

void ThreadChoice::took(double seconds, std::int64_t samples) {
  if (most_ <= 1 || samples <= 0) return;
  if (std::exchange(is_first_, false)) return;
  block_.seconds += seconds;
  block_.samples += samples;
  const bool warms_up = candidate_ > 0 && rounds_ == 0;
  if (block_.seconds < block_s && !warms_up) return;
  const Block block = std::exchange(block_, {});
  if (candidate_ > 0)
    end_turn(block);
  else
    wait(block);
}

// Whether there is such a candidate, and not by another name.
bool ThreadChoice::try_out(Candidate kind) {
  if (kind == Candidate::twice ? in_use_ >= most_ : in_use_ <= (kind == Candidate::half ? 3 : 1))
    return false;
  kind_ = kind;
  candidate_ = kind == Candidate::one    ? 1
               : kind == Candidate::half ? in_use_ / 2
                                         : std::min(most_, 2 * in_use_);
  candidates_turn_ = false;
  rounds_ = slow_blocks_ = 0;
  candidates_work_ = {};
  own_.clear();
  candidates_.clear();
  return true;
}

// The first round warms up, and tells only who is out of the question.
void ThreadChoice::end_turn(const Block& block) {
  (candidates_turn_ ? candidates_ : own_).push_back(block.per_sample());
  candidates_turn_ = !candidates_turn_;
  if (candidates_turn_) return;
  candidates_work_.seconds += block.seconds;
  candidates_work_.samples += block.samples;
  if (candidates_.back() > hopeless * own_.back()) return decide(false);
  if (rounds_++ == 0) {
    own_.clear();
    candidates_.clear();
  }
  if (own_.size() < fewest_rounds) return;
  if (each_faster(candidates_, own_))
    decide(true);
  else if (each_faster(own_, candidates_))
    decide(false);
  else if (own_.size() >= most_rounds)
    decide(candidate_ > in_use_
               ? median(candidates_) < pays * median(own_)
               : (kind_ == Candidate::one ? pays : 1) * median(candidates_) < median(own_));
}

void ThreadChoice::decide(bool candidate_is_better) {
  usual_ = median(candidate_is_better ? candidates_ : own_);
  const double usually_s = static_cast<double>(candidates_work_.samples) * usual_;
  pause_s_ = std::max(least_pause_s, pauses_per_loss * (candidates_work_.seconds - usually_s));
  const int before = in_use_;
  if (candidate_is_better) in_use_ = candidate_;
  candidate_ = 0;
  if (!candidate_is_better) return;
  if (kind_ != Candidate::one)
    try_out(kind_);
  else if (before > 2)
    try_out(Candidate::twice);
}

void ThreadChoice::wait(const Block& block) {
  pause_s_ -= block.seconds;
  slow_blocks_ = block.per_sample() > changed * usual_ ? slow_blocks_ + 1 : 0;
  if (slow_blocks_ >= changed_blocks && try_out(Candidate::one)) return;
  if (pause_s_ > 0) return;
  for (int turn = 1; turn <= 3; ++turn)
    if (try_out(static_cast<Candidate>((static_cast<int>(kind_) + turn) % 3))) return;
}

}  // namespace sagips::train
