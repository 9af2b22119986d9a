#include "bench/candidate.hpp"

#include "bench/plain_mpi.hpp"
#include "bench/seat.hpp"
#include "sagips/comm/exchange_driver.hpp"

namespace sagips::bench {

namespace {

class PlainAllReduce final : public Candidate {
 public:
  explicit PlainAllReduce(std::size_t floats)
      : Candidate(peer_name), values_(floats, 1.0F), sum_(floats) {}
  void call() override { mpi_all_reduce(values_, sum_); }

 private:
  std::vector<float> values_, sum_;
};

class Driven final : public Candidate {
 public:
  Driven(const std::string& name, comm::Communicator& communicator, std::size_t floats)
      : Candidate(name),
        seat_(communicator),
        site_(seat_.site(floats)),
        driver_(comm::make_exchange(name, bench_config(), site_), site_, 0, "the benchmark"),
        weights_(floats, 1.0F),
        gradients_(floats, 1.0F) {}

  void call() override {
    const comm::Step step{++epoch_};
    driver_.start({weights_, gradients_}, step);
    driver_.finish();
    driver_.after_update({weights_, gradients_}, step);
  }
  std::int64_t period() const override { return driver_.exchange().period(); }
  comm::Promise promise() const override { return driver_.exchange().promise(); }
  double inside_s() const override {
    const comm::ExchangeTotals totals = driver_.totals();
    return totals.exposed_s + totals.waiting_s;
  }

 private:
  Seat seat_;
  comm::Site site_;
  comm::ExchangeDriver driver_;
  std::vector<float> weights_, gradients_;
  std::int64_t epoch_ = 0;
};

}  // namespace

comm::ExchangesConfig bench_config() {
  comm::ExchangesConfig config;
  config.grouped.group_size = 2;
  config.grouped.outer_every = 5;
  config.averaged.every = 5;
  return config;
}

std::vector<std::unique_ptr<Candidate>> make_candidates(comm::Communicator& communicator,
                                                        const std::vector<std::string>& exchanges,
                                                        std::size_t floats) {
  std::vector<std::unique_ptr<Candidate>> made;
  made.push_back(std::make_unique<PlainAllReduce>(floats));
  for (const auto& name : exchanges)
    made.push_back(std::make_unique<Driven>(name, communicator, floats));
  return made;
}

}  // namespace sagips::bench
