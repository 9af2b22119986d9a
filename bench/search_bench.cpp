// A searcher on its own: names points, and reads their scores.
//
//   search_bench SEARCHER SEED TRIALS DIMENSION...
//
// A dimension: c (continuous), oN (N values in order), kN (N values without), with @P=V|V where it counts only at these
// values of dimension P. One line a point goes to standard output, one score a line is read. At the end the seconds that
// the searcher has taken for each point go to standard error.
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "sagips/core/text.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/nn/memory.hpp"
#include "sagips/optim/search/searchers.hpp"

namespace {

using namespace sagips;

optim::SearchDimension dimension_of(const std::string& words) {
  const auto at = words.find('@');
  const std::string kind = words.substr(0, at);
  optim::SearchDimension dimension;
  dimension.ordered = kind[0] != 'k';
  if (kind[0] != 'c') dimension.values = std::stoll(kind.substr(1));
  if (at == std::string::npos) return dimension;
  const auto equals = words.find('=');
  dimension.parent = std::stoul(words.substr(at + 1, equals - at - 1));
  for (const std::string& one : core::split(words.substr(equals + 1), '|'))
    dimension.counts_at.push_back(std::stoll(one));
  return dimension;
}

void search(const std::vector<std::string>& words) {
  std::vector<optim::SearchDimension> dimensions;
  for (std::size_t i = 3; i < words.size(); ++i) dimensions.push_back(dimension_of(words[i]));
  const auto count = std::stoul(words[2]);
  const auto searcher = optim::setting_searchers_of({}).get(
      words[0], "command line")({.space = optim::SearchSpace(std::move(dimensions)),
                                 .seed = std::stoull(words[1]),
                                 .trials = static_cast<std::int64_t>(count)});
  std::vector<optim::Trial> trials;
  while (trials.size() < count) {
    const auto before = std::chrono::steady_clock::now();
    const optim::Point point = searcher->ask(trials, 1).at(0);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
    std::fprintf(stderr, "%.6f\n", taken.count());
    for (const double one : point) std::printf("%.17g ", one);
    std::printf("\n");
    std::fflush(stdout);
    double score = 0;
    if (!(std::cin >> score)) return;
    trials.push_back({point, score});
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 5)
      throw std::invalid_argument("usage: search_bench SEARCHER SEED TRIALS DIMENSION...");
    torch::set_num_threads(1);
    nn::keep_freed_memory();  // as the program does
    search({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "search_bench: " << problem.what() << '\n';
    return 2;
  }
}
