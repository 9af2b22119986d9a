#include <gtest/gtest.h>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "tests/core/config_example.hpp"
#include "tests/core/mutator.hpp"

namespace sagips::core {
namespace {

using sagips::testing::Mutator;
using sagips::testing::RunExample;

TEST(ConfigMutations, GiveAConfigThatReadsBackOrAConfigErrorAndNothingElse) {
  const std::string original =
      "name: a run\nbootstrap: true\nepochs: 7\nwall_clock_s: 2.5\ntruth: [3, 4e0]\n"
      "cuts: ['70 < M < 110', \"pt1\\n > 20\"]\nreference: {norm_1: 1.5}\n"
      "optimizer:\n  order: generator_first\n  generator:\n    learning_rate: 1e-3\n# end\n";
  Mutator mutate(2, "{}[]:,-|>&*!%#'\"\\ \n\t?~@`0123456789.e<=");
  std::size_t configs = 0, refusals = 0;
  for (int i = 0; i < 20'000; ++i) {
    try {
      const ConfigDocument document = ConfigDocument::from_text(mutate(original), "p.yaml");
      const std::string written = write_config(read_config(document, RunExample{}));
      const ConfigDocument again = ConfigDocument::from_text(written, "again.yaml");
      ASSERT_EQ(write_config(read_config(again, RunExample{})), written);
      ++configs;
    } catch (const ConfigError& failure) {
      ASSERT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
      ++refusals;
    }
  }
  // Both outcomes must have been met, or the mutations would prove nothing.
  EXPECT_GT(configs, 100u);
  EXPECT_GT(refusals, 1000u);
}

}  // namespace
}  // namespace sagips::core
