#include "sagips/analysis/table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace sagips::analysis {
namespace {

using record::ParameterResult;
using record::Results;

ParameterResult known(const std::string& name, double truth, double recovered, double start,
                      double floor) {
  ParameterResult row;
  row.name = name;
  row.truth = truth;
  row.recovered = recovered;
  row.spread = 0.0123;
  row.residual_start = start;
  row.residual_end = (truth - recovered) / truth;
  row.floor = floor;
  return row;
}

/// The line of the table that starts with this word.
std::string line_of(const std::string& table, const std::string& word) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(word, 0) == 0) return line;
  return {};
}

TEST(PlainTable, AlignsColumns) {
  EXPECT_EQ(plain_table({"name", "value"}, {{"a", "1.5"}, {"longer", "100.25"}}),
            "name     value\n"
            "a          1.5\n"
            "longer  100.25\n");
}

TEST(PlainTable, CountsLettersAndNotBytes) {
  EXPECT_EQ(plain_table({"x", "fit"}, {{"é", "1 ± 2"}, {"bb", "10"}}),
            "x     fit\n"
            "é   1 ± 2\n"
            "bb     10\n");
}

TEST(PlainTable, TakesRowsThatEndEarly) {
  EXPECT_EQ(plain_table({"a", "b", "c"}, {{"1"}, {"1", "2"}}), "a  b  c\n1\n1  2\n");
  EXPECT_EQ(plain_table({}, {}), "\n");
}

TEST(ResultTable, ShowsTruthRecoveryAndResidualsInPerCent) {
  Results results;
  results.parameters = {known("N_u", 2.1875, 2.1546875, -0.31, 0.037)};
  EXPECT_EQ(result_table(results),
            "parameter    true  recovered  spread    start    end  floor\n"
            "N_u        2.1875     2.1547   0.012  -31.0 %  1.5 %  3.7 %\n"
            "\n"
            "spread       over noise vectors; no error of the parameter\n"
            "start, end   residual (true - recovered) / true, before and after\n"
            "floor        smallest error these data allow (Cramér-Rao) / |true|\n");
}

TEST(ResultTable, MarksAResidualThatGrewInSize) {
  Results results;
  results.parameters = {known("grew", 1, 1.02, -0.01, 0.1), known("shrank", 1, 1.02, -0.03, 0.1),
                        known("turned", 1, 0.98, -0.01, 0.1)};
  const std::string table = result_table(results);
  EXPECT_NE(line_of(table, "grew").find("moved away"), std::string::npos) << table;
  EXPECT_EQ(line_of(table, "shrank").find("moved away"), std::string::npos) << table;
  EXPECT_NE(line_of(table, "turned").find("moved away"), std::string::npos) << table;
  EXPECT_EQ(line_of(table, "moved away"), "moved away   the residual grew in size");
}

TEST(ResultTable, MarksAResidualAboveTheFloorWhateverItsSign) {
  Results results;
  results.parameters = {known("high", 1, 0.9, 0.5, 0.05), known("low", 1, 1.1, 0.5, 0.05),
                        known("well", 1, 1.04, 0.5, 0.05), known("negative", -1, -1.1, 0.5, 0.05)};
  const std::string table = result_table(results);
  EXPECT_NE(line_of(table, "high").find("above floor"), std::string::npos) << table;
  EXPECT_NE(line_of(table, "low").find("above floor"), std::string::npos) << table;
  EXPECT_EQ(line_of(table, "well").find("above floor"), std::string::npos) << table;
  EXPECT_NE(line_of(table, "negative").find("above floor"), std::string::npos) << table;
  EXPECT_EQ(line_of(table, "above floor"), "above floor  the residual is larger than the floor");
}

TEST(ResultTable, GivesBothMarksToOneParameter) {
  Results results;
  results.parameters = {known("a", 1, 1.3, 0.1, 0.05), known("b", 1, 1, 0.1, 0.05)};
  EXPECT_NE(result_table(results).find("  moved away, above floor\n"), std::string::npos);
}

TEST(ResultTable, ExplainsOnlyMarksThatAreThere) {
  Results results;
  results.parameters = {known("a", 1, 1, 0.1, 0.05)};
  const std::string table = result_table(results);
  EXPECT_EQ(table.find("moved away"), std::string::npos) << table;
  EXPECT_EQ(table.find("above floor"), std::string::npos) << table;
}

TEST(ResultTable, ShowsAFixedParameterAsFixedAndWithoutMarks) {
  Results results;
  ParameterResult width = known("width", 2.5, 2.4, 0.001, 0.0001);
  width.unit = "GeV";
  width.fixed = true;
  results.parameters = {known("mass", 91, 91, 0.1, 0.05), width};
  EXPECT_EQ(line_of(result_table(results), "width"),
            "width [GeV]  2.5000     2.4000                                fixed");
}

TEST(ResultTable, LeavesOutColumnsThatNobodyCanFill) {
  Results results;
  ParameterResult mass;
  mass.name = "mass";
  mass.unit = "GeV";
  mass.recovered = 91.1;
  mass.spread = 0.5;
  mass.fit_value = 91.0583;
  mass.fit_error = 0.0321;
  results.parameters = {mass};
  EXPECT_EQ(result_table(results),
            "parameter   recovered  spread             fit\n"
            "mass [GeV]     91.100    0.50  91.058 ± 0.032\n"
            "\n"
            "spread       over noise vectors; no error of the parameter\n"
            "fit          maximum-likelihood fit of the same data\n");
}

TEST(ResultTable, SaysThatTrainingBrokeDown) {
  Results results;
  results.parameters = {known("a", 1, std::numeric_limits<double>::quiet_NaN(), 0.1, 0.05)};
  const std::string table = result_table(results);
  EXPECT_NE(line_of(table, "a ").find("not finite"), std::string::npos) << table;
  EXPECT_EQ(line_of(table, "not finite"), "not finite   training broke down");
}

ParameterResult solved(const std::string& name, double recovered, double error) {
  ParameterResult row;
  row.name = name;
  row.recovered = recovered;
  row.error = error;
  return row;
}

TEST(ResultTable, ShowsLimitsAndWhatIsNotFixed) {
  Results results;
  results.parameters = {solved("a", 0.02, 0.03), solved("b", 1, 0.1)};
  results.parameters[0].upper_limit = 0.0712;
  results.parameters[1].error.reset();
  results.parameters[1].open = true;
  EXPECT_EQ(result_table(results),
            "parameter      recovered      95 %\n"
            "a          0.020 ± 0.030  < 0.0712\n"
            "b              not fixed\n"
            "\n"
            "95 %         one-sided limit, where an end of the range is near\n"
            "not fixed    by these data: its value is one of many\n");
}

TEST(ResultTable, ShowsBothSidesOfAnInterval) {
  ParameterResult row = solved("a", 1.234, 0.56);
  row.error_below = 0.41;
  row.error_above = 1.7;
  row.truth = 2.934;
  EXPECT_EQ(recovered_text(row), "1.23 +1.70 -0.41");
  row.error_below = 0.0182283, row.error_above = 0.0000021;  // next to an end of the range
  EXPECT_EQ(recovered_text(row), "1.234 +0.0000021 -0.018");
  row.error_below = 0.41, row.error_above = 1.7;
  EXPECT_EQ(pull_text(row), "-1.00");
  row.truth = 0.824;
  EXPECT_EQ(pull_text(row), "1.00");
  row.error_above = 0;  // at the end of the range
  EXPECT_EQ(recovered_text(row), "1.23 +0.00 -0.41");
}

TEST(ResultTable, RoundsNoValueAway) {
  EXPECT_EQ(recovered_text(solved("a", 0.37, 13)), "0.37 ± 13");
  EXPECT_EQ(recovered_text(solved("a", -0.00012, 0.5)), "-0.00012 ± 0.50");
  EXPECT_EQ(recovered_text(solved("a", 0, 13)), "0 ± 13");
  EXPECT_EQ(recovered_text(solved("a", 1.234, 0.56)), "1.23 ± 0.56");
  EXPECT_EQ(recovered_text(solved("a", 1.5e-11, 2e-12)), "1.50e-11 ± 2.0e-12");
  ParameterResult row = solved("a", 0.37, 13);
  row.error_below = 12;
  row.error_above = 140;
  EXPECT_EQ(recovered_text(row), "0.37 +140 -12");
  row.truth = 0.37;
  EXPECT_EQ(pull_text(row), "0.00") << "nothing is there to be lost";
  EXPECT_EQ(percent(0.000123), "0.012 %");
  EXPECT_EQ(percent(0.0), "0.0 %");
  EXPECT_EQ(value_with_digits_of(0.012, 91.18764), "91.188");
  EXPECT_EQ(value_with_digits_of({}, 91.18764), "91.188");
}

TEST(OthersTable, HasAColumnForEachOtherSolution) {
  Results results;
  results.parameters = {solved("s", 1.2, 0.01), solved("t", 0.8, 0.01)};
  EXPECT_EQ(others_table(results), "");
  results.others = {{{-1.2, 0.8}, {0.01, 0.01}, 12.34}, {{1.2, -0.8}, {0.01, 0.01}, 13.5}};
  EXPECT_EQ(others_table(results),
            "other solutions               2               3\n"
            "s                -1.200 ± 0.010   1.200 ± 0.010\n"
            "t                 0.800 ± 0.010  -0.800 ± 0.010\n"
            "score                     12.34           13.50\n");
}

TEST(ResultTable, ShowsAFitWithoutAUsefulErrorAsItIs) {
  Results results;
  ParameterResult row;
  row.name = "a";
  row.fit_value = 1.5;
  row.fit_error = std::numeric_limits<double>::infinity();
  results.parameters = {row};
  EXPECT_NE(result_table(results).find("1.5000 ± inf"), std::string::npos);
}

}  // namespace
}  // namespace sagips::analysis
