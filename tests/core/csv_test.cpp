#include "sagips/core/csv.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::core {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& content) {
  const TemporaryFolder folder;
  return read_csv_rows(folder.make("a.csv", content));
}

TEST(Csv, ReadsBackWhatItWrote) {
  const std::string hard = "a, \"b\"\nc", blank = " d ";
  const std::string content = "x,y\n" + csv_cell(hard) + "," + csv_cell(blank) + "\n";
  EXPECT_EQ(rows_of(content), (Rows{{"x", "y"}, {hard, blank}}));
}

TEST(Csv, LeavesOutBlankRowsAndBlanksAroundCells) {
  EXPECT_EQ(rows_of(" x , y\n,\n\n\"\",z"), (Rows{{"x", "y"}, {"", ""}, {"", "z"}}));
  EXPECT_EQ(rows_of(""), Rows{});
  EXPECT_EQ(rows_of("\xef\xbb\xbf"
                    "a\r\nb\r\n"),
            (Rows{{"a"}, {"b"}}));
}

TEST(Csv, NamesTheLineOfABrokenQuote) {
  const TemporaryFolder folder;
  const std::string file = folder.make("a.csv", "\"x\ny\",1\n\"z,2\n");
  EXPECT_EQ(message_of<DataError>([&] { read_csv_rows(file); }),
            file + ":3: the line opens a quote that is never closed. Correct it.");
}

TEST(Csv, QuotesOnlyCellsThatNeedIt) {
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell("1,5"), "\"1,5\"");
  EXPECT_EQ(csv_cell("5\" long"), "\"5\"\" long\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_cell(" blanks"), "\" blanks\"");
}

TEST(CsvLine, ReadsBackAsItsCells) {
  EXPECT_EQ(csv_line("a, b", std::string("c"), 3, 0.1, std::size_t{4}, -2.5e-300),
            "\"a, b\",c,3,0.1,4,-2.5e-300\n");
  EXPECT_EQ(csv_line("", ""), ",\n");
}

TEST(Csv, NamesOtherSeparatorsThanCommas) {
  const TemporaryFolder folder;
  const auto says = [&](const std::string& content) {
    const std::string file = folder.make("a.csv", content);
    return message_of<DataError>([&] { read_csv_rows(file); });
  };
  EXPECT_NE(says("x;y\n1,5;2\n").find("separated by semicolons ('x;y')"), std::string::npos);
  EXPECT_NE(says("x\ty\n1\t2\n").find("separated by tabs"), std::string::npos);
  EXPECT_NE(says("x y\n1 2\n").find("separated by spaces"), std::string::npos);
  EXPECT_EQ(rows_of("missing energy\n1\n"), (Rows{{"missing energy"}, {"1"}}));
  EXPECT_EQ(rows_of("\"x\", \"y\"\n\"1\", \"2\"\n"), (Rows{{"x", "y"}, {"1", "2"}}));
}

}  // namespace
}  // namespace sagips::core
