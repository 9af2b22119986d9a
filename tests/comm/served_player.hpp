#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "sagips/comm/exchange_driver.hpp"
#include "tests/comm/kit.hpp"

namespace sagips::comm::testing {

/// An update rule without memory: weights -= rate * gradients.
inline MakeUpdate plain_update(float rate) {
  return [rate](std::span<float> weights) {
    return [=](std::span<const float> gradients, double) {
      for (std::size_t k = 0; k < weights.size(); ++k) weights[k] -= rate * gradients[k];
    };
  };
}

/// A rank of an exchange with central weights, driven as the training loop does.
struct ServedPlayer {
  ServedPlayer(Kit& kit, const Served::Config& config, std::vector<float> first,
               const MakeUpdate& update)
      : weights(std::move(first)), site(kit.site(weights.size())) {
    site.update = update;
    ExchangesConfig exchanges;
    exchanges.served = config;
    auto exchange = make_exchange("served", exchanges, site);
    driver = std::make_unique<ExchangeDriver>(std::move(exchange), site, 0, "test");
  }

  Served& served() { return dynamic_cast<Served&>(driver->exchange()); }

  /// `local`: what moves a worker's own weights, where the exchange leaves that to it.
  void step(std::int64_t number, std::vector<float> gradient, float local = 0.05F) {
    gradients = std::move(gradient);
    driver->start({weights, gradients}, {number});
    for (int k = 0; k < 3; ++k) driver->progress();
    driver->finish();
    if (driver->exchange().updates({number}))
      for (std::size_t k = 0; k < weights.size(); ++k) weights[k] -= local * gradients[k];
    driver->after_update({weights, gradients}, {number});
  }
  void serve(std::int64_t number) { driver->serve({weights, gradients}, {number}); }
  void close() {
    driver->close();
    driver->look(weights, {0});
  }

  std::vector<float> weights, gradients;
  Site site;
  std::unique_ptr<ExchangeDriver> driver;
};

}  // namespace sagips::comm::testing
