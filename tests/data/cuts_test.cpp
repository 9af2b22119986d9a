#include "sagips/data/cuts.hpp"

#include <gtest/gtest.h>

#include "tests/data/loading.hpp"

namespace sagips::data {
namespace {

using namespace sagips::testing;

std::string passing(const std::string& condition) {
  std::string all;
  const Cut cut(condition);
  for (const double value : {1.0, 2.0, 3.0, 4.0})
    if (cut.passes(value)) all += std::to_string(static_cast<int>(value));
  return all;
}

TEST(Cut, KnowsEveryComparison) {
  EXPECT_EQ(passing("M < 2"), "1");
  EXPECT_EQ(passing("M <= 2"), "12");
  EXPECT_EQ(passing("M > 2"), "34");
  EXPECT_EQ(passing("M >= 2"), "234");
  EXPECT_EQ(passing("M == 2"), "2");
  EXPECT_EQ(passing("M != 2"), "134");
}

TEST(Cut, ReadsANumberOnTheLeftAsItsMirrorImage) {
  EXPECT_EQ(passing("2 < M"), "34");
  EXPECT_EQ(passing("2 <= M"), "234");
  EXPECT_EQ(passing("2 > M"), "1");
  EXPECT_EQ(passing("2 >= M"), "12");
  EXPECT_EQ(passing("2 == M"), "2");
  EXPECT_EQ(passing("2 != M"), "134");
}

TEST(Cut, ReadsTwoSidesInEitherDirection) {
  EXPECT_EQ(passing("1 < M < 4"), "23");
  EXPECT_EQ(passing("1 <= M < 4"), "123");
  EXPECT_EQ(passing("4 >= M > 1"), "234");
  EXPECT_EQ(passing("  1<M<=4 "), "234");
  EXPECT_EQ(passing("-1e1 < M < 1.5"), "1");
}

TEST(Cut, FindsItsColumn) {
  EXPECT_EQ(Cut("70 < M < 110").column().name, "M");
  EXPECT_EQ(Cut("pt 1 > 20").column().name, "pt 1");
  EXPECT_EQ(Cut("20 < pt1").column().name, "pt1");
  EXPECT_EQ(Cut("70 < 0 < 110").column().name, "0");
  EXPECT_EQ(Cut("1 > 20").column().name, "1");
  EXPECT_EQ(Cut(" 70 < M ").condition(), "70 < M");
}

TEST(Cut, RefusesWhatItCannotRead) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "one side of a comparison is missing"},
      {"M", "there is no comparison"},
      {"70 <", "one side of a comparison is missing"},
      {"< 70", "one side of a comparison is missing"},
      {"70 << M", "one side of a comparison is missing"},
      {"M = 70", "'=' is no comparison"},
      {"M ! 70", "'!' is no comparison"},
      {"M < x", "'x' is no number"},
      {"M < nan", "'nan' is no number"},
      {"a < M < 5", "'a' is no number"},
      {"1 < M < 2 < 3", "more than two comparisons"},
      {"1 < M > 2", "its two comparisons do not point the same way"},
      {"1 != M < 2", "its two comparisons do not point the same way"}};
  for (const auto& [condition, problem] : wrong) {
    const std::string message =
        message_of<core::ConfigError>([&, text = condition] { Cut cut(text); });
    EXPECT_EQ(message, "cuts: '" + condition + "' cannot be read: " + problem +
                           ". Write it like '70 < M < 110' or 'pt1 > 20'.");
  }
}

TEST(Cuts, KeepTheEventsThatPassAll) {
  const TemporaryFolder folder;
  const std::string path = folder.make("a.csv", "M,q\n1,5\n2,0\n3,5\n4,5\n");
  const Dataset dataset = load_dataset(config_of(path, {"M"}, {"M < 4", "q > 1"}), {});
  EXPECT_EQ(numbers(dataset.values), (std::vector<float>{1, 3}));
}

TEST(Cuts, NameTheOneThatLeavesNoEvent) {
  const TemporaryFolder folder;
  const std::string path = folder.make("a.csv", "M\n1\n2\n3\n");
  EXPECT_EQ(data_refusal(config_of(path, {"M"}, {"M < 3", "5 < M < 7", "M > 0"})),
            " no event is left: of 3 events, 2 reached the cut '5 < M < 7' and it removed them "
            "all. Widen that cut.");
}

TEST(Cuts, NameTheNearestColumn) {
  const TemporaryFolder folder;
  const std::string path = folder.make("a.csv", "M,charge\n1,1\n");
  EXPECT_EQ(data_refusal(config_of(path, {"M"}, {"charg > 0"})),
            " has no column 'charg' (asked for by cut 'charg > 0'), did you mean 'charge'?");
}

}  // namespace
}  // namespace sagips::data
