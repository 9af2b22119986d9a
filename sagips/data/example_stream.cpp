#include "sagips/data/example_stream.hpp"

#include <chrono>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"

namespace sagips::data {

namespace {

constexpr std::size_t steps_ahead = 4, bytes_ahead = std::size_t{1} << 26;

std::size_t bytes_of(const Examples& examples) {
  return examples.inputs.defined() ? examples.inputs.nbytes() + examples.targets.nbytes() : 0;
}

}  // namespace

ExampleStream::ExampleStream(ExampleRowsPtr rows, SamplePlan plan, PlaceOfStep place,
                             std::function<void(const Examples&)> check)
    : rows_(std::move(rows)),
      plan_(std::move(plan)),
      place_(std::move(place)),
      check_(std::move(check)) {}

ExampleStream::~ExampleStream() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ExampleStream::move_to(const torch::Device& device) {
  if (!rows_->in_memory()) return;
  constexpr std::int64_t at_once = 100'000;  // copies on the CPU, which ranks of a machine share
  std::int64_t place = 0;
  Examples rows;
  for_each_piece(rows_->rows(), at_once, [&](const torch::Tensor& numbers) {
    const Examples piece = rows_->read(numbers);
    const auto put = [&](const torch::Tensor& from, torch::Tensor& to) {
      if (!from.defined()) return;
      if (!to.defined()) {
        std::vector<std::int64_t> sizes = from.sizes().vec();
        sizes[0] = rows_->rows();
        to = torch::empty(sizes, from.options().device(device));
      }
      to.narrow(0, place, numbers.size(0)).copy_(from);
    };
    put(piece.inputs, rows.inputs);
    put(piece.targets, rows.targets);
    put(piece.weights, rows.weights);
    rows.tensors = piece.tensors;
    place += numbers.size(0);
  });
  moved_ = {.rows = std::move(rows)};
}

Examples ExampleStream::read(std::uint32_t step) const {
  const Place place = place_(step);
  if (moved_) {
    if (moved_->epoch != place.epoch) {
      moved_->order = plan_.rows_at(place.epoch, 0, rows_->rows()).to(moved_->rows.inputs.device());
      moved_->epoch = place.epoch;
    }
    return moved_->rows.chosen(moved_->order.narrow(0, place.first, place.count));
  }
  return rows_->read(plan_.rows_at(place.epoch, place.first, place.count));
}

Examples ExampleStream::at(std::uint32_t step) {
  if (rows_->in_memory()) return read(step);
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!ready_.empty() && ready_.front().step != step) ready_.pop_front();
  if (ready_.empty() && next_ != step) next_ = step;  // the thread drops what it reads just now
  if (!thread_.joinable()) thread_ = std::thread([this] { read_ahead(); });
  changed_.notify_all();
  changed_.wait(lock, [this] { return !ready_.empty(); });
  Ready ready = std::move(ready_.front());
  ready_.pop_front();
  lock.unlock();
  changed_.notify_all();
  waited_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (ready.failure) std::rethrow_exception(ready.failure);
  return std::move(ready.examples);
}

// Rows that cannot be read once a training runs are its failure, not that of the command.
void ExampleStream::read_ahead() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] {
      std::size_t bytes = 0;
      for (const Ready& ready : ready_) bytes += bytes_of(ready.examples);
      return ends_ || (ready_.size() < steps_ahead && bytes < bytes_ahead);
    });
    if (ends_) return;
    Ready ready{.step = next_};
    lock.unlock();
    try {
      try {
        ready.examples = read(ready.step);
        check_(ready.examples);
      } catch (const core::Error& error) {
        core::pass_on_raised();
        throw core::Error(error.what());
      }
    } catch (...) {
      ready.failure = std::current_exception();
    }
    lock.lock();
    if (next_ != ready.step) continue;
    ++next_;
    ready_.push_back(std::move(ready));
    changed_.notify_all();
  }
}

}  // namespace sagips::data
