// The memory of a solution beside the number of events.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <iostream>
#include <string>
#include <vector>

#include "sagips/core/npy.hpp"
#include "tests/cli/command.hpp"

namespace {

// Of all commands so far. [bytes]
double largest_peak() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

void solve(const Scratch& scratch, const std::string& file, const std::string& options) {
  const Outcome run = scratch.sagips("solve proxy1d data.file=" + file + " threads=1 " + options);
  ASSERT_EQ(run.exit_code, 0) << run.err;
}

}  // namespace

// A solution of few events tells what the program itself takes. Each further event costs the 8 bytes of
// its two observables, and that much again while the file is read; its features alone would be 250.
TEST(ManyEvents, CostLittleMoreMemoryThanTheyAre) {
  constexpr std::size_t few = 200'000, times = 20;
  const Scratch scratch;
  ASSERT_EQ(scratch.sagips("generate proxy1d events=200000 out=few.npy").exit_code, 0);
  const auto events = sagips::core::read_npy(scratch.path() + "/few.npy").values;
  ASSERT_EQ(events.size(), 2 * few) << "two observables";
  std::vector<double> many;
  for (std::size_t i = 0; i < times; ++i) many.insert(many.end(), events.begin(), events.end());
  sagips::core::write_npy(scratch.path() + "/many.npy", many, {times * few, 2});
  const std::vector<std::string> all = {"run.figures=false",
                                        "run.figures=false moments.features.degree=30"};
  for (const std::string& options : all) solve(scratch, "few.npy", options);
  const double before = largest_peak();
  for (const std::string& options : all) solve(scratch, "many.npy", options);
  const double bytes = (largest_peak() - before) / static_cast<double>((times - 1) * few);
  std::cout << bytes << " bytes an event\n";
  EXPECT_LT(bytes, 40);
}
