#include "sagips/train/checkpoint/quick_stop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "sagips/train/loop.hpp"

namespace sagips::train {

namespace {

constexpr double long_epoch_s = 0.1;  // shorter ones end in time
constexpr double dear_share = 0.01;   // of an epoch, for a copy
constexpr double longest_pause = 1000;
constexpr std::size_t most_kept = 8;  // ranks that wait may be some epochs apart
constexpr std::int64_t most_bytes = 64 << 20;
constexpr std::int64_t patience_ns = 400'000'000;  // for all ranks to have got the signal

const int stop_tag = comm::tag_of(comm::ControlTag::quick_stop);

std::int64_t bytes_of_state(const nn::State& state) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : state) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

}  // namespace

QuickStop::QuickStop(comm::Ranks& ranks, bool waits, std::function<bool()> requested)
    : ranks_(ranks), waits_(waits), requested_(std::move(requested)) {}

void QuickStop::boundary(std::int64_t epoch, double epoch_s,
                         const std::function<nn::State()>& state) {
  if (progress_ == Progress::asked) return;  // rank 0 has been told which ones there are
  const bool is_long = epoch_s == 0 || epoch_s > long_epoch_s;
  if (!is_long || pause_ > 0) {
    pause_ = std::max<std::int64_t>(0, pause_ - 1);
    kept_.clear();
    return;
  }
  const std::int64_t start = ranks_.communicator().now_ns();
  kept_.push_back({epoch, state()});
  const double copy_s = static_cast<double>(ranks_.communicator().now_ns() - start) * 1e-9;
  if (epoch_s > 0 && copy_s > dear_share * epoch_s)
    pause_ = std::llround(std::min(longest_pause, std::ceil(copy_s / (dear_share * epoch_s))));
  const std::int64_t bytes = std::max<std::int64_t>(1, bytes_of_state(kept_.back().state));
  const auto affordable = static_cast<std::size_t>(most_bytes / bytes);
  while (kept_.size() > std::clamp<std::size_t>(affordable, 2, most_kept)) kept_.pop_front();
}

QuickStop::Flag QuickStop::own_flag() const {
  if (kept_.empty()) return {-1, -1, waits_ ? 1 : 0};
  return {kept_.back().epoch, kept_.front().epoch, waits_ ? 1 : 0};
}

void QuickStop::give_up(std::int64_t epoch) {
  progress_ = Progress::given_up;
  chosen_ = kept_.size() - 1;
  if (waits_)
    while (kept_[chosen_].epoch > epoch) --chosen_;
  throw EpochGivenUp(ranks_.size() == 1);
}

void QuickStop::ask() {
  progress_ = Progress::asked;
  asked_ns_ = ranks_.communicator().now_ns();
  flag_ = own_flag();
  if (ranks_.is_first()) {
    flags_.assign(static_cast<std::size_t>(ranks_.size()), {});
    flags_[0] = flag_;
    for (int rank = 1; rank < ranks_.size(); ++rank)
      requests_.push_back(ranks_.communicator().receive(
          rank, stop_tag, comm::bytes_of(flags_[static_cast<std::size_t>(rank)])));
  } else {
    requests_.push_back(ranks_.communicator().send(0, stop_tag, comm::bytes_of(flag_)));
    requests_.push_back(ranks_.communicator().receive(0, stop_tag, comm::bytes_of(verdict_)));
  }
}

bool QuickStop::all_have_come() {
  return std::all_of(requests_.begin(), requests_.end(),
                     [](comm::Request& request) { return request.ready(); });
}

std::int64_t QuickStop::common_boundary() const {
  std::int64_t newest = std::numeric_limits<std::int64_t>::max();
  for (const Flag& flag : flags_) {
    if (flag.newest < 0) return -1;
    if (flag.waits != 0) newest = std::min(newest, flag.newest);
  }
  for (const Flag& flag : flags_)
    if (flag.waits != 0 && flag.oldest > newest) return -1;
  return newest;
}

// On rank 0. Those that never got the signal find the answer "no" and do not look at it.
void QuickStop::decide() {
  const bool all = all_have_come();
  if (!all && ranks_.communicator().now_ns() - asked_ns_ < patience_ns) return;
  verdict_ = all ? common_boundary() : -1;
  progress_ = verdict_ < 0 ? Progress::refused : progress_;
  answer();
  if (verdict_ >= 0) give_up(verdict_);
}

void QuickStop::answer() {
  for (int rank = 1; rank < ranks_.size(); ++rank)
    requests_.push_back(ranks_.communicator().send(rank, stop_tag, comm::bytes_of(verdict_)));
}

void QuickStop::close() {
  if (progress_ == Progress::given_up) return;
  const bool nobody_answered = ranks_.is_first() && progress_ != Progress::refused;
  progress_ = nobody_answered && ranks_.size() > 1 ? Progress::closed : Progress::refused;
}

void QuickStop::look() {
  if (ranks_.is_first()) return decide();
  if (!all_have_come()) return;
  if (verdict_ >= 0) give_up(verdict_);
  progress_ = Progress::refused;
}

// What this rank computes now is lost, most likely; the others need the processor for their answers.
void QuickStop::poll() {
  if (progress_ == Progress::given_up || progress_ == Progress::refused || !requested_()) return;
  if (progress_ == Progress::closed) {  // those who ask need not wait for their patience's end
    progress_ = Progress::refused;
    return answer();
  }
  if (ranks_.size() == 1) {
    if (!kept_.empty()) give_up(kept_.back().epoch);
    return;
  }
  if (progress_ == Progress::idle) ask();
  for (look();
       progress_ == Progress::asked && ranks_.communicator().now_ns() - asked_ns_ < patience_ns;
       look())
    std::this_thread::sleep_for(std::chrono::microseconds(200));
}

bool QuickStop::in_hand() {
  if (ranks_.size() == 1) return false;
  return progress_ == Progress::asked || (progress_ == Progress::idle && !kept_.empty());
}

}  // namespace sagips::train
