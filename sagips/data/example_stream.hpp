#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "sagips/data/examples.hpp"
#include "sagips/data/sample_plan.hpp"

namespace sagips::data {

/// The rows of each step of a training. Those that are in memory are taken there; others are read by a
/// thread, a few steps ahead.
class ExampleStream {
 public:
  /// Where the rows of a step stand in the plan; a pure function.
  struct Place {
    std::uint32_t epoch = 1;
    std::int64_t first = 0, count = 0;
  };
  using PlaceOfStep = std::function<Place(std::uint32_t step)>;

  /// check: is called with rows that have been read from files, and throws for those that do not fit
  ExampleStream(ExampleRowsPtr rows, SamplePlan plan, PlaceOfStep place,
                std::function<void(const Examples&)> check);
  ~ExampleStream();
  ExampleStream(const ExampleStream&) = delete;
  ExampleStream& operator=(const ExampleStream&) = delete;

  /// Copies all rows that are in memory to a GPU, where steps take theirs from then on.
  void move_to(const torch::Device& device);

  /// The rows of a step, whichever were asked for before. One thread at a time. throws: core::Error
  Examples at(std::uint32_t step);
  /// Time that `at` has waited for the thread [s].
  double waited_s() const { return waited_s_; }

 private:
  struct Ready {
    std::uint32_t step = 0;
    Examples examples{};
    std::exception_ptr failure{};
  };
  Examples read(std::uint32_t step) const;
  void read_ahead();

  ExampleRowsPtr rows_;
  SamplePlan plan_;  ///< of the thread, where there is one
  PlaceOfStep place_;
  std::function<void(const Examples&)> check_;
  double waited_s_ = 0;

  /// Of rows that are on a GPU.
  struct Moved {
    Examples rows{};
    std::uint32_t epoch = 0;  ///< whose order is there
    torch::Tensor order{};    ///< [rows] int64
  };
  mutable std::optional<Moved> moved_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Ready> ready_;
  std::uint32_t next_ = 0;  ///< that the thread reads; 0: none yet
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sagips::data
