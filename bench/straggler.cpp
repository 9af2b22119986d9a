#include "bench/straggler.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/measuring.hpp"
#include "bench/plain_mpi.hpp"
#include "bench/seat.hpp"
#include "sagips/comm/exchange_driver.hpp"

namespace sagips::bench {

namespace {

constexpr int tiles = 4;  // pieces of work between which the exchange is polled
constexpr int no_rank = -1;

double now_s() { return static_cast<double>(comm::now_ns()) * 1e-9; }

void work(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Makes the calls of the training loop in the order `generator_first`: half of the computing, then
/// the other half while gradients travel.
class Trainer {
 public:
  Trainer(comm::Communicator& communicator, const Composition& composition, std::size_t floats,
          double compute_s)
      : seat_(communicator),
        site_(seat_.site(floats)),
        driver_(comm::make_exchange(composition.exchange, composition.config, site_), site_, 0,
                "the benchmark"),
        weights_(floats, 1.0F),
        gradients_(floats, 1.0F),
        tile_s_(compute_s / (2 * tiles)) {}

  void epoch() {
    const comm::Step step{++epoch_};
    for (int tile = 0; tile < tiles; ++tile) work(tile_s_);
    driver_.start({weights_, gradients_}, step);
    for (int tile = 0; tile < tiles; ++tile) {
      work(tile_s_);
      driver_.progress();
    }
    driver_.finish();
    driver_.after_update({weights_, gradients_}, step);
    ends_s_.push_back(now_s());
  }
  bool waits() const { return driver_.exchange().promise().waits; }
  const std::vector<double>& ends_s() const { return ends_s_; }
  comm::Freshness freshness() const { return driver_.report().freshness; }

 private:
  Seat seat_;
  comm::Site site_;
  comm::ExchangeDriver driver_;
  std::vector<float> weights_, gradients_;
  double tile_s_;
  std::int64_t epoch_ = 0;
  std::vector<double> ends_s_;
};

double rate_between(const std::vector<double>& ends_s, std::size_t first, std::size_t last) {
  return static_cast<double>(last - first) / (ends_s[last] - ends_s[first]);
}

/// Epochs a second of this rank, after everybody has run.
double run_counted(Trainer& trainer, std::int64_t epochs) {
  for (std::int64_t k = 0; k < epochs; ++k) trainer.epoch();
  const std::size_t count = trainer.ends_s().size();
  return rate_between(trainer.ends_s(), count / 4, count - 1 - count / 4);
}

double run_timed(comm::Communicator& communicator, Trainer& trainer, double seconds) {
  const double start = agree(communicator, now_s());
  while (now_s() < start + 1.5 * seconds) trainer.epoch();
  const auto& ends = trainer.ends_s();
  const auto warm = std::lower_bound(ends.begin(), ends.end() - 2, start + 0.5 * seconds);
  return rate_between(ends, static_cast<std::size_t>(warm - ends.begin()), ends.size() - 1);
}

/// What one run of one composition gives; the same on all ranks.
struct Run {
  std::vector<double> rates;
  double looks = 0, fresh = 0;
};

Run run(comm::Communicator& communicator, const Composition& composition,
        const StragglerSettings& settings, int slow) {
  const double factor = communicator.rank() == slow ? settings.slowdown : 1;
  Trainer trainer(communicator, composition, settings.floats, settings.compute_s * factor);
  mpi_barrier();
  const double rate = trainer.waits()
                          ? run_counted(trainer, settings.epochs)
                          : run_timed(communicator, trainer,
                                      settings.compute_s * static_cast<double>(settings.epochs));
  const comm::Freshness seen = trainer.freshness();
  const auto used = static_cast<double>(seen.used);
  const auto missed = static_cast<double>(seen.dropped + seen.missing);
  const std::vector<double> all = gather(communicator, std::array{rate, used, missed});
  Run made;
  for (std::size_t i = 0; i < all.size(); i += 3) {
    made.rates.push_back(all[i]);
    made.fresh += all[i + 1];
    made.looks += all[i + 1] + all[i + 2];
  }
  return made;
}

/// One composition with one slow rank, over the repeats.
struct Series {
  const Composition* composition;
  int slow;
  std::vector<std::vector<double>> ratios{};  ///< [rank][repeat]
  std::vector<double> undisturbed_rates{};    ///< [repeat]; the slowest rank's rate
  double looks = 0, fresh = 0;

  void add(const Run& undisturbed, const Run& disturbed) {
    ratios.resize(disturbed.rates.size());
    for (std::size_t rank = 0; rank < ratios.size(); ++rank)
      ratios[rank].push_back(disturbed.rates[rank] / undisturbed.rates[rank]);
    undisturbed_rates.push_back(
        *std::min_element(undisturbed.rates.begin(), undisturbed.rates.end()));
    looks += disturbed.looks;
    fresh += disturbed.fresh;
  }

  Ratios digest() const {
    Ratios made{
        .composition = composition->label, .slow = slow, .undisturbed = median(undisturbed_rates)};
    std::vector<double> others;
    for (std::size_t rank = 0; rank < ratios.size(); ++rank)
      if (static_cast<int>(rank) != slow) others.push_back(median(ratios[rank]));
    made.others_minimum = *std::min_element(others.begin(), others.end());
    made.others_maximum = *std::max_element(others.begin(), others.end());
    made.slow_rank = median(ratios[static_cast<std::size_t>(slow)]);
    if (looks > 0) made.fresh = fresh / looks;
    return made;
  }
};

}  // namespace

std::vector<Ratios> straggle(comm::Communicator& communicator,
                             const std::vector<Composition>& compositions,
                             const StragglerSettings& settings) {
  std::vector<Series> all;
  for (const Composition& composition : compositions)
    for (const int slow : composition.slow_ranks)
      all.push_back({.composition = &composition, .slow = slow});
  for (std::int64_t repeat = 0; repeat < settings.repeats; ++repeat) {
    Run undisturbed;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Composition& composition = *all[i].composition;
      if (i == 0 || all[i - 1].composition != &composition)
        undisturbed = run(communicator, composition, settings, no_rank);
      all[i].add(undisturbed, run(communicator, composition, settings, all[i].slow));
    }
  }
  std::vector<Ratios> rows;
  for (const Series& series : all) rows.push_back(series.digest());
  return rows;
}

}  // namespace sagips::bench
