#include "sagips/core/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sagips::core {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(Text, JoinsPrintedForms) { EXPECT_EQ(text("a", 1, ' ', 2.5), "a1 2.5"); }

TEST(Text, WritesFixedDigits) {
  EXPECT_EQ(fixed(1.005, 1), "1.0");
  EXPECT_EQ(fixed(-2.25, 3), "-2.250");
  EXPECT_EQ(fixed(1234.5678, 0), "1235");
  EXPECT_EQ(fixed(1e300, 0).size(), 301u);
}

TEST(Text, DropsTheSignOfARoundedZero) {
  EXPECT_EQ(fixed(-0.001, 2), "0.00");
  EXPECT_EQ(fixed(-0.006, 2), "-0.01");
}

TEST(Text, NamesNonFiniteNumbersInWords) {
  EXPECT_EQ(fixed(not_a_number, 2), "nan");
  EXPECT_EQ(fixed(-not_a_number, 2), "nan");
  EXPECT_EQ(significant(infinity, 2), "inf");
  EXPECT_EQ(round_trip(-infinity), "-inf");
}

TEST(Text, WritesSignificantDigitsInTheShorterForm) {
  EXPECT_EQ(rounded(0.37, 0), "0.37");
  EXPECT_EQ(rounded(-0.0004, 2), "-0.00040");
  EXPECT_EQ(rounded(0.51, 0), "1");
  EXPECT_EQ(rounded(0.0, 2), "0.00");
  EXPECT_EQ(rounded(infinity, 2), "inf");
  EXPECT_EQ(significant(91.1876, 4), "91.19");
  EXPECT_EQ(significant(0.5, 3), "0.500");
  EXPECT_EQ(significant(9.996, 3), "10.0");
  EXPECT_EQ(significant(1234567.0, 3), "1230000");
  EXPECT_EQ(significant(123456789.0, 3), "1.23e+08");
  EXPECT_EQ(significant(1.5e-9, 2), "1.5e-09");
  EXPECT_EQ(significant(-0.0123, 2), "-0.012");
  EXPECT_EQ(significant(0.0, 2), "0.0");
}

TEST(Text, RoundTripsEveryDouble) {
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, 5e-324, 1.7976931348623157e308, -2.5, 1e5}) {
    double back = 0.0;
    ASSERT_TRUE(parse_number(round_trip(value), back)) << round_trip(value);
    EXPECT_EQ(back, value);
  }
  EXPECT_EQ(round_trip(0.1), "0.1");
  EXPECT_EQ(round_trip(1e-4), "1e-4");
  EXPECT_EQ(round_trip(-1.5e-10), "-1.5e-10");
  EXPECT_EQ(round_trip(1e5), "1e5");
  EXPECT_EQ(round_trip(2e300), "2e300");
}

TEST(Text, GroupsThousands) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(with_thousands(-100000), "-100,000");
  EXPECT_EQ(with_thousands(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Text, WritesDurationsInTwoUnits) {
  EXPECT_EQ(duration(0.2), "0 s");
  EXPECT_EQ(duration(45.4), "45 s");
  EXPECT_EQ(duration(59.7), "1 min 00 s");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(7500), "2 h 05 min");
  EXPECT_EQ(duration(3 * 86400 + 4 * 3600), "3 d 04 h");
  EXPECT_EQ(duration(infinity), "unknown");
  EXPECT_EQ(duration(not_a_number), "unknown");
  EXPECT_EQ(duration(-1), "0 s");
}

TEST(Text, JoinsAndSplitsAsInverses) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({"a", "a", "b"}, ", "), "a, a, b");
  EXPECT_EQ(split("a..b", '.'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", '.'), (std::vector<std::string>{""}));
}

TEST(Text, TrimsBlanksOnBothSides) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Nearest, FindsTheSmallestEditDistance) {
  EXPECT_EQ(nearest("learning_rat", {"learning_rate", "beta1"}), "learning_rate");
  EXPECT_EQ(nearest("eposch", {"epochs", "batch"}), "epochs");
}

TEST(Nearest, StaysSilentBeyondAThirdOfTheLength) {
  EXPECT_EQ(nearest("generator", {"discriminator"}), "");
  EXPECT_EQ(nearest("abcdefghi", {"abcdef"}), "abcdef");  // 3 of 9
  EXPECT_EQ(nearest("abcdefgh", {"abcd"}), "");           // 4 of 8
}

TEST(Nearest, NeedsACommonLetter) { EXPECT_EQ(nearest("M", {"Q1", "E"}), ""); }

TEST(Suggestion, NamesTheNearestOrAllKnown) {
  EXPECT_EQ(suggestion("mas", {"mass", "width"}), ", did you mean 'mass'?");
  EXPECT_EQ(suggestion("colour", {"mass", "width"}), ", known: mass, width");
  EXPECT_EQ(suggestion("colour", {}), "");
}

TEST(Excerpt, ShortensWithoutCuttingALetter) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt(std::string(40, 'x')), std::string(40, 'x'));
  EXPECT_EQ(excerpt(std::string(41, 'x')), std::string(40, 'x') + "...");
  EXPECT_EQ(excerpt(std::string(39, 'x') + "\xc3\xbc"), std::string(39, 'x') + "...");
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  double value = 7.0;
  EXPECT_TRUE(parse_number("-1.5e-3", value));
  EXPECT_EQ(value, -1.5e-3);
  EXPECT_TRUE(parse_number("+2", value));
  EXPECT_EQ(value, 2.0);
  for (const char* wrong :
       {"", "+", "++1", "+-1x", "1,5", "1.5 ", " 1", "0x10", "1e", "1e999", "G"})
    EXPECT_FALSE(parse_number(wrong, value)) << wrong;
  EXPECT_EQ(value, 2.0) << "a refused text must leave the value alone";
}

}  // namespace
}  // namespace sagips::core
