#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sagips/comm/exchange_driver.hpp"
#include "tests/comm/kit.hpp"

namespace sagips::comm::testing {

/// An exchange on one rank, driven a call at a time with numbers of the test's choice.
struct HandDriven {
  HandDriven(Kit& kit, const std::string& name, const ExchangesConfig& config,
             std::size_t floats = 3)
      : gradients(floats),
        weights(floats),
        site(kit.site(floats)),
        driver(make_exchange(name, config, site), site, 0, "test") {}

  /// Brings an array filled with `gradient`; the first float of what comes out, all being equal.
  float call(std::int64_t epoch, float gradient) {
    gradients.assign(gradients.size(), gradient);
    driver.start({weights, gradients}, {epoch});
    driver.finish();
    driver.after_update({weights, gradients}, {epoch});
    EXPECT_EQ(gradients, std::vector<float>(gradients.size(), gradients[0]));
    return gradients[0];
  }
  Exchange& exchange() { return driver.exchange(); }
  State state() {
    State state;
    driver.exchange().give_state(state);
    return state;
  }

  std::vector<float> gradients, weights;
  Site site;
  ExchangeDriver driver;
};

}  // namespace sagips::comm::testing
