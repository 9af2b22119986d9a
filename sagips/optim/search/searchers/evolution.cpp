// The only source that sees pagmo; none of LibTorch here.
#include "sagips/optim/search/searchers/evolution.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <pagmo/algorithm.hpp>
#include <pagmo/algorithms/cmaes.hpp>
#include <pagmo/algorithms/de1220.hpp>
#include <pagmo/algorithms/sade.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"

namespace sagips::optim::searchers {

namespace {

constexpr unsigned generations = 1'000'000;  // for ever: it ends by convergence or is stopped
constexpr double least_score_step = 1e-12, least_point_step = 1e-6;  // that count as converged
constexpr double worst_score = 1e30;
constexpr std::size_t largest_population = 1 << 14;

struct Stopped {};

double comparable_to_pagmo(double score) { return std::isfinite(score) ? score : worst_score; }

std::size_t first_population(const Evolution::Config& config, std::size_t dimensions) {
  if (config.population > 0)
    return std::max<std::size_t>(7, static_cast<std::size_t>(config.population));
  const auto n = static_cast<double>(dimensions);
  return config.algorithm == "cmaes"
             ? std::max<std::size_t>(7, static_cast<std::size_t>(4 + 3 * std::log(n)))
             : std::max<std::size_t>(20, 10 * dimensions);
}

pagmo::algorithm algorithm_of(const Evolution::Config& config, unsigned seed) {
  constexpr double automatic = -1;
  if (config.algorithm == "cmaes")
    return pagmo::algorithm(pagmo::cmaes(generations, automatic, automatic, automatic, automatic,
                                         config.deviation, least_score_step, least_point_step,
                                         /*memory=*/false, /*force_bounds=*/true, seed));
  if (config.algorithm == "sade") {
    constexpr unsigned variant = 2, adaptation = 1;  // rand/1/exp, jDE
    return pagmo::algorithm(pagmo::sade(generations, variant, adaptation, least_score_step,
                                        least_point_step, /*memory=*/false, seed));
  }
  constexpr unsigned adaptation = 1;
  return pagmo::algorithm(pagmo::de1220(generations, {2U, 3U, 7U, 10U, 13U, 14U, 15U, 16U},
                                        adaptation, least_score_step, least_point_step,
                                        /*memory=*/false, seed));
}

}  // namespace

// pagmo's thread and the asking one, one of which always waits for the other.
class Evolution::Run {
 public:
  // known: the first scores, which nobody is asked for
  Run(const Config& config, const SearchStart& start, std::vector<double> known = {})
      : config_(config), start_(start), known_(std::move(known)), thread_([this] { search(); }) {}

  ~Run() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Point ask() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return (point_ && !score_) || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    return *point_;
  }

  void tell(double score) {
    {
      const std::lock_guard lock(mutex_);
      score_ = comparable_to_pagmo(score);
    }
    changed_.notify_all();
  }

  // From the point that was asked for to the last one that depends on no score of these.
  std::size_t left_in_generation() {
    const std::lock_guard lock(mutex_);
    return config_.algorithm == "cmaes" ? size_ - scored_ % size_ : 1;
  }

  // Called by pagmo.
  double score(const Point& point) {
    std::unique_lock lock(mutex_);
    if (told_ < known_.size()) {
      ++scored_;
      return comparable_to_pagmo(known_[told_++]);
    }
    point_ = point;
    changed_.notify_all();
    changed_.wait(lock, [this] { return score_ || stopping_; });
    if (stopping_) throw Stopped();
    const double found = *score_;
    score_.reset();
    point_.reset();
    ++scored_;
    return found;
  }

 private:
  // What pagmo calls a problem: it is copied, so it only points to the run.
  struct Problem {
    Run* run = nullptr;
    std::size_t dimensions = 1;

    pagmo::vector_double fitness(const pagmo::vector_double& point) const {
      return {run->score(point)};
    }
    std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
      return {pagmo::vector_double(dimensions, 0.0), pagmo::vector_double(dimensions, 1.0)};
    }
    template <class Archive>
    void serialize(Archive&, unsigned) {}  // pagmo asks for it; nothing is ever saved
  };

  void search() {
    try {
      std::size_t size = first_population(config_, start_.space.size());
      for (std::uint32_t restart = 0;; ++restart) {
        const auto seed = static_cast<unsigned>(start_.seed) + restart;
        {
          const std::lock_guard lock(mutex_);
          size_ = size;
          scored_ = 0;
        }
        pagmo::population population(pagmo::problem(Problem{this, start_.space.size()}), 0U, seed);
        const core::RandomStream stream(start_.seed, "evolution", restart);
        for (std::uint32_t i = 0; i < size; ++i) {
          Point point(start_.space.size());
          stream.uniform(i, 0, std::span<double>(point));
          population.push_back(restart == 0 && i == 0 && start_.start ? *start_.start : point);
        }
        algorithm_of(config_, seed).evolve(population);
        size = std::min(2 * size, largest_population);
      }
    } catch (const Stopped&) {
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  const Config config_;
  const SearchStart start_;
  const std::vector<double> known_;
  std::size_t told_ = 0;    // of the known ones
  std::size_t size_ = 1;    // of a generation
  std::size_t scored_ = 0;  // of this population
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Point> point_;   // waits for its score
  std::optional<double> score_;  // waits for pagmo
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all of the above
};

Evolution::Evolution(const Config& config, const SearchStart& start)
    : config_(config), start_(start), run_(std::make_unique<Run>(config, start)) {}
Evolution::~Evolution() = default;

std::vector<Point> Evolution::ask(const std::vector<Trial>& trials, std::size_t most) {
  for (; learned_ < trials.size() && trials[learned_].score; ++learned_) {
    run_->ask();
    run_->tell(*trials[learned_].score);
  }
  const Point next = run_->ask();
  const std::size_t end = learned_ + run_->left_in_generation();
  if (trials.size() == learned_ && (most == 1 || end == learned_ + 1)) return {next};
  // another run finds out what comes next; what it is told meanwhile plays no part in that
  std::vector<double> scores;
  for (std::size_t i = 0; i < trials.size(); ++i)
    scores.push_back(i < learned_ ? *trials[i].score : 0);
  Run scout(config_, start_, std::move(scores));
  std::vector<Point> points;
  for (std::size_t i = trials.size(); i < std::min(end, trials.size() + most); ++i) {
    points.push_back(scout.ask());
    scout.tell(0);
  }
  return points;
}

}  // namespace sagips::optim::searchers
