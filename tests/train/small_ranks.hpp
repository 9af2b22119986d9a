#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/train/rank_exchange.hpp"
#include "tests/comm/thread_communicator.hpp"
#include "tests/optim/small_environment.hpp"

namespace sagips::testing {

/// Runs `body` on ranks that are threads of this process, on a clock of the test's own if there is one.
inline void on_ranks(int count, const std::function<void(comm::Ranks&)>& body,
                     const std::atomic<std::int64_t>* clock_ns = nullptr) {
  comm::run_ranks({.ranks = count, .clock_ns = clock_ns}, [&](comm::Communicator& communicator) {
    torch::set_num_threads(1);
    comm::Ranks ranks(communicator);
    ranks.timeout().set_config({.timeout_s = 60, .alarmed = {}});
    body(ranks);
    ranks.gather(0);  // nobody's memory goes while others look
  });
}

/// One rank's training of the small problem, as the command line sets it up.
struct SmallTraining {
  SmallTraining(comm::Ranks& ranks, const optim::GanConfig& config,
                const train::ExchangeChoice& choice, train::LoopConfig loop_config = epochs(20),
                torch::Device device = torch::kCPU)
      : environment(small_environment()),
        gan(config, environment, seed, device, {ranks.rank(), ranks.size()}),
        exchange(ranks, gan, choice, seed),
        loop(loop_config, gan, callbacks(ranks)) {}

  static train::LoopConfig epochs(std::int64_t count) {
    train::LoopConfig config;
    config.epochs = count;
    return config;
  }
  train::Loop::Callbacks callbacks(comm::Ranks& ranks) {
    train::Loop::Callbacks made;
    if (ranks.size() > 1) made.exchange = exchange.hooks();
    return made;
  }
  torch::Tensor weights() { return gan.generator().weights().detach().cpu().clone(); }
  void state(nn::StateList& list) {
    list.part("loop", loop);
    list.part("ranks", exchange);
  }

  static constexpr std::uint64_t seed = 3;
  env::Environment environment;
  optim::Gan gan;
  train::RankExchange exchange;
  train::Loop loop;
};

/// All parameters of both networks shared, every rank with all events.
inline optim::GanConfig fully_shared_gan(std::int64_t samples) {
  optim::GanConfig config = small_gan();
  config.generator.shared = nn::SharedPart::all;
  config.discriminator.exchange = "all_reduce";
  config.batch.samples = samples;
  return config;
}

}  // namespace sagips::testing
