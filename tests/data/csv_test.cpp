#include "sagips/data/csv.hpp"

#include <gtest/gtest.h>

#include "tests/data/loading.hpp"

namespace sagips::data {
namespace {

using namespace sagips::testing;
using Columns = std::vector<std::vector<double>>;
using Rows = std::vector<std::size_t>;

Table read_text(const std::string& content, const std::vector<std::string>& names) {
  const TemporaryFolder folder;
  std::vector<NeededColumn> needed;
  for (const std::string& name : names) needed.push_back({name, "columns"});
  return read_csv(folder.make("a.csv", content), needed);
}

std::string refusal(const std::string& content, const std::string& column = "M") {
  const TemporaryFolder folder;
  return data_refusal(config_of(folder.make("a.csv", content), {column}));
}

TEST(Csv, ReadsColumnsByNameInTheOrderAskedFor) {
  const Table table = read_text("a,b,c\n1,2,3\n4,5,6\n", {"c", "a"});
  EXPECT_EQ(table.names, (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(table.columns, (Columns{{3, 6}, {1, 4}}));
  EXPECT_EQ(table.rows, (Rows{2, 3}));
}

TEST(Csv, LeavesOtherColumnsUnread) {
  EXPECT_EQ(read_text("Type,M\nG,90.5\n,91\nnan,92\n", {"M"}).columns, (Columns{{90.5, 91, 92}}));
}

TEST(Csv, ReadsWindowsLineEndsBlanksAndNoLastLineEnd) {
  EXPECT_EQ(read_text("a,M\r\n1, 2.5 \r\n3,+4e1", {"M"}).columns, (Columns{{2.5, 40}}));
}

TEST(Csv, SkipsBlankLinesAtTheEnd) {
  EXPECT_EQ(read_text("M\n1\n\n \r\n\n", {"M"}).columns, (Columns{{1}}));
}

TEST(Csv, SkipsAByteOrderMark) {
  EXPECT_EQ(read_text("\xef\xbb\xbfM\n1\n", {"M"}).columns, (Columns{{1}}));
}

TEST(Csv, ReadsQuotedCells) {
  const Table table = read_text(
      "\"M, \"\"raw\"\"\",note\n\"1.5\",\"a, b\"\n2,\"two\nlines\"\n3,x\n", {"M, \"raw\""});
  EXPECT_EQ(table.columns, (Columns{{1.5, 2, 3}}));
  EXPECT_EQ(table.rows, (Rows{2, 3, 5})) << "rows are lines of the file";
}

TEST(Csv, ReadsAColumnOnceThatIsAskedForTwice) {
  EXPECT_EQ(read_text("M\n1\n", {"M", "M"}).columns, (Columns{{1}}));
}

// What scatters by the rounding of double precision alone is a constant.
TEST(Csv, RefusesNumbersThatSinglePrecisionCannotTellApartAndNoConstants) {
  EXPECT_NE(refusal("M\n100000001\n100000002\n100000004\n").find("has steps of 8.0 there"),
            std::string::npos);
  const TemporaryFolder folder;
  const auto path = folder.make("a.csv", "M\n0.1\n0.10000000000000003\n0.09999999999999998\n0.1\n");
  EXPECT_EQ(load_dataset(config_of(path, {"M"}), {}).size(), 4);
}

TEST(Csv, NamesTheNearestColumn) {
  const std::string message = refusal("mass,pt\n1,2\n", "mas");
  EXPECT_EQ(message, " has no column 'mas' (asked for by columns), did you mean 'mass'?");
  EXPECT_NE(refusal("x1,x2\n1,2\n", "energy").find("known: x1, x2"), std::string::npos);
}

TEST(Csv, SaysThatCellsAreSeparatedOtherwise) {
  for (const std::string separator : {";", "\t"})
    EXPECT_NE(
        refusal("M" + separator + "pt\n1" + separator + "2\n").find("Separate them by commas"),
        std::string::npos);
}

TEST(Csv, SaysThatATextIsUtf16) {
  for (const std::string mark : {"\xff\xfe", "\xfe\xff"})
    EXPECT_EQ(refusal(mark + "M\n1\n"), " is text in UTF-16. Write it in UTF-8.");
}

TEST(Csv, RefusesAColumnNameThatIsThereTwice) {
  EXPECT_EQ(refusal("M,M\n1,2\n"), " has two columns 'M'. Rename one of them.");
}

TEST(Csv, PlacesCellsThatAreNoFiniteNumber) {
  EXPECT_EQ(
      refusal("a,M\n1,90\n1,abc\n"),
      "3: column 'M' holds 'abc', a finite number is needed. Correct it: leaving such rows out "
      "biases results.");
  EXPECT_EQ(refusal("a,M\n1,90\n\"x\ny\",\n"),
            "3: column 'M' is empty, a finite number is needed. Correct it: leaving such rows out "
            "biases results.");
  for (const char* cell : {"nan", "NaN", "inf", "-inf", "1e999", "1;5", "0x10", "1 2", "--1"})
    EXPECT_TRUE(refusal(std::string("M\n") + cell + "\n").starts_with("2: column 'M' holds"))
        << cell;
}

TEST(Csv, ChecksColumnsOfCutsAndWeightsToo) {
  const TemporaryFolder folder;
  DatasetConfig config = config_of(folder.make("a.csv", "M,q,w\n1,1,1\n2,x,1\n"), {"M"}, {"q > 0"});
  EXPECT_TRUE(data_refusal(config).starts_with("3: column 'q' holds 'x'"));
  config.cuts.clear();
  config.weight_column = "q";
  EXPECT_TRUE(data_refusal(config).starts_with("3: column 'q' holds 'x'"));
  config.weight_column = "";
  EXPECT_EQ(load_dataset(config, {}).size(), 2);
}

TEST(Csv, MasksAndShortensCellsInMessages) {
  const std::string message = refusal("M\n\x1b[31m" + std::string(500, 'x') + "\n");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_LT(message.size(), 150u);
}

TEST(Csv, RefusesRowsOfAnotherLength) {
  EXPECT_EQ(refusal("a,M\n1,2\n1\n"), "3: has 1 cell, the header has 2. Correct that row.");
  EXPECT_EQ(refusal("a,M\n1,2,3\n"), "2: has 3 cells, the header has 2. Correct that row.");
  EXPECT_EQ(refusal("a,M\n1,2\n\n1,2\n"), "3: has 1 cell, the header has 2. Correct that row.");
}

TEST(Csv, RefusesBrokenQuotes) {
  EXPECT_EQ(refusal("a,M\n\"1,2\n3,4\n"),
            "2: the line opens a quote that is never closed. Correct it.");
  EXPECT_EQ(refusal("a,M\n\"1\"x,2\n"), "2: the line has text behind a closing quote. Correct it.");
}

TEST(Csv, RefusesACarriageReturnInsideALine) {
  EXPECT_EQ(refusal("a,M\n1\r2,3\n"),
            "2: the line has a carriage return in its middle. Correct it.");
}

TEST(Csv, RefusesAFileWithoutHeaderOrEvents) {
  EXPECT_EQ(refusal(""), " is empty. It must begin with a line of column names.");
  EXPECT_EQ(refusal(" \n\n"), " is empty. It must begin with a line of column names.");
  EXPECT_EQ(refusal("M\n"), " holds no events.");
}

TEST(Csv, NamesAMissingFile) {
  const TemporaryFolder folder;
  EXPECT_TRUE(data_refusal(config_of(folder.file("a.csv"), {"M"}))
                  .starts_with(" cannot be read (No such file or directory)"));
}

}  // namespace
}  // namespace sagips::data
