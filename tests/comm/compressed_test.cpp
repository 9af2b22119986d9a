#include "sagips/comm/exchanges/compressed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "tests/comm/hand_driven.hpp"
#include "tests/comm/oracle.hpp"

namespace sagips::comm::testing {
namespace {

using Form = Compressed::Form;
constexpr std::size_t array_size = 1000;

ExchangesConfig with(Form form, bool error_feedback = true) {
  ExchangesConfig config;
  config.compressed = {.form = form, .share = 0.05, .error_feedback = error_feedback};
  return config;
}

// The same gradient of a rank in each call: what is not sent in one has to come in later ones.
std::vector<float> constant_gradient(int rank) {
  std::vector<float> gradient = gradient_of(rank, 1, array_size);
  for (std::size_t i = 0; i < array_size; ++i)
    gradient[i] *= std::pow(10.0F, -3.0F * static_cast<float>(i % 3));
  return gradient;
}

/// Brings it so often; the mean of what came out each time.
std::vector<double> mean_of_calls(HandDriven& driven, int rank, std::int64_t first,
                                  std::int64_t last) {
  std::vector<double> mean(array_size, 0);
  for (std::int64_t epoch = first; epoch <= last; ++epoch) {
    driven.gradients = constant_gradient(rank);
    driven.driver.start({driven.weights, driven.gradients}, {epoch});
    driven.driver.finish();
    for (std::size_t i = 0; i < array_size; ++i)
      mean[i] += driven.gradients[i] / static_cast<double>(last - first + 1);
  }
  return mean;
}

double largest_error(const std::vector<double>& found, int ranks) {
  double worst = 0;
  for (std::size_t i = 0; i < array_size; ++i) {
    double wanted = 0;
    for (int rank = 0; rank < ranks; ++rank)
      wanted += static_cast<double>(constant_gradient(rank)[i]) / ranks;
    worst = std::max(worst, std::abs(found[i] - wanted));
  }
  return worst;
}

TEST(Compressed, SendsHalfTheBytesOfWhatSendsLeast) {
  for (const Form form : {Form::float16, Form::bfloat16})
    for (const int ranks : {2, 3, 4, 7})
      on_threads({.ranks = ranks}, [&](Kit& kit) {
        HandDriven whole(kit, "chunked_ring", {}, 840), halves(kit, "compressed", with(form), 840);
        whole.call(1, 1);
        halves.call(1, 1);
        EXPECT_EQ(2 * halves.driver.totals().traffic.bytes, whole.driver.totals().traffic.bytes);
        EXPECT_EQ(halves.driver.totals().traffic.messages, whole.driver.totals().traffic.messages);
      });
}

TEST(Compressed, SendsAShareOfTheNumbersWithTheirPlaces) {
  on_threads({.ranks = 3}, [&](Kit& kit) {
    HandDriven driven(kit, "compressed", with(Form::top_k), array_size);
    mean_of_calls(driven, kit.communicator.rank(), 1, 1);
    EXPECT_EQ(driven.driver.totals().traffic, (Cost{2, std::uint64_t{2} * 50 * 8}));
  });
}

// A number's error in one call is that of its format; with error feedback the mean over calls comes as near as
// one rounding in all of them.
TEST(Compressed, ErrorFeedbackMakesUpForWhatWasNotSent) {
  struct Case {
    Form form;
    std::int64_t calls;
    double once, with_feedback;
  };
  for (const Case& one :
       {Case{Form::float16, 40, 2e-4, 2e-5}, Case{Form::bfloat16, 40, 2e-3, 2e-4}})
    for (const int ranks : {2, 3, 4})
      on_threads({.ranks = ranks}, [&](Kit& kit) {
        const int rank = kit.communicator.rank();
        HandDriven forgets(kit, "compressed", with(one.form, false), array_size),
            remembers(kit, "compressed", with(one.form), array_size);
        EXPECT_GT(largest_error(mean_of_calls(forgets, rank, 1, one.calls), ranks), one.once);
        EXPECT_LT(largest_error(mean_of_calls(remembers, rank, 1, one.calls), ranks),
                  one.with_feedback);
      });
}

TEST(Compressed, TheLargestNumbersAreSentAndTheOthersInTime) {
  on_threads({.ranks = 2}, [&](Kit& kit) {
    HandDriven driven(kit, "compressed", with(Form::top_k), array_size);
    const int rank = kit.communicator.rank();
    std::vector<float> own = constant_gradient(rank), sizes(array_size);
    std::transform(own.begin(), own.end(), sizes.begin(),
                   [](float value) { return std::abs(value); });
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    driven.gradients = own;
    driven.driver.start({driven.weights, driven.gradients}, {1});
    driven.driver.finish();
    const std::vector<float> other = constant_gradient(1 - rank);
    for (std::size_t i = 0; i < array_size; ++i)
      if (std::abs(own[i]) >= sizes[49] && driven.gradients[i] != 0.5F * own[i]) {
        EXPECT_EQ(driven.gradients[i], 0.5F * (own[i] + other[i])) << i;
      }
    const std::vector<double> mean = mean_of_calls(driven, rank, 2, 400);
    EXPECT_LT(largest_error(mean, 2), 0.1) << "all but what still waits";
    HandDriven forgets(kit, "compressed", with(Form::top_k, false), array_size);
    EXPECT_GT(largest_error(mean_of_calls(forgets, rank, 1, 400), 2), 0.5);
  });
}

TEST(Compressed, WhatIsTooSmallForTheFormatComesInTime) {
  on_threads({.ranks = 2}, [&](Kit& kit) {
    HandDriven driven(kit, "compressed", with(Form::float16));
    EXPECT_EQ(driven.call(1, 1e-9F), driven.call(2, 1e-9F)) << "too small for now";
    float sum = 0;
    for (std::int64_t epoch = 3; epoch < 203; ++epoch) sum += driven.call(epoch, 1e-9F);
    EXPECT_NEAR(sum, 200e-9, 120e-9);
  });
}

// A spike is one large step, and not as many of 65504 as it takes.
TEST(Compressed, WhatIsBeyondFloat16ComesAtOnceAndMoreExactlyNextTime) {
  for (const bool error_feedback : {false, true})
    on_threads({.ranks = 3}, [&](Kit& kit) {
      HandDriven driven(kit, "compressed", with(Form::float16, error_feedback));
      float sum = driven.call(1, 3e7F);
      EXPECT_NEAR(sum, 3e7F, 3e7F / 16);
      if (!error_feedback) return;
      for (std::int64_t epoch = 2; epoch < 8; ++epoch) {
        const float rest = driven.call(epoch, 0);
        EXPECT_LE(std::abs(rest), 3e7F / std::pow(16.0F, static_cast<float>(epoch - 1))) << epoch;
        sum += rest;
      }
      EXPECT_NEAR(sum, 3e7F, 16);
    });
}

TEST(Compressed, GoesOnWithWhatItHasNotSent) {
  for (const Form form : {Form::float16, Form::bfloat16, Form::top_k})
    on_threads({.ranks = 3}, [&](Kit& kit) {
      const int rank = kit.communicator.rank();
      HandDriven whole(kit, "compressed", with(form), array_size),
          first(kit, "compressed", with(form), array_size),
          second(kit, "compressed", with(form), array_size);
      mean_of_calls(whole, rank, 1, 4);
      mean_of_calls(first, rank, 1, 3);
      const State state = first.state();
      ASSERT_EQ(state.at("compressed.unsent").size(), array_size);
      second.exchange().take_state(state);
      mean_of_calls(second, rank, 4, 4);
      EXPECT_EQ(second.gradients, whole.gradients);
      HandDriven anew(kit, "compressed", with(form), array_size);
      mean_of_calls(anew, rank, 4, 4);
      EXPECT_NE(anew.gradients, whole.gradients) << "the state counts";
    });
}

}  // namespace
}  // namespace sagips::comm::testing
