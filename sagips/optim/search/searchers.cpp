#include "sagips/optim/search/searchers.hpp"

#include "sagips/core/random.hpp"

namespace sagips::optim {

namespace {

/// Points drawn evenly: what every other searcher must beat.
class Random final : public Searcher {
 public:
  explicit Random(const SearchStart& start) : start_(start), stream_(start.seed, "random search") {}

  std::vector<Point> ask(std::size_t most) override {
    std::vector<Point> points;
    for (std::size_t i = 0; i < most; ++i) {
      Point point(start_.dimensions);
      stream_.uniform(asked_, 0, std::span<double>(point));
      if (asked_++ == 0 && start_.start) point = *start_.start;
      points.push_back(std::move(point));
    }
    return points;
  }
  void tell(const std::vector<double>&) override {}

 private:
  SearchStart start_;
  core::RandomStream stream_;
  std::uint32_t asked_ = 0;
};

}  // namespace

// Here, and not in evolution.cpp: a build without pagmo knows the keys, too.
void searchers::Evolution::Config::fields(core::FieldList& list) {
  list.add_choice(
      "algorithm", {"cmaes", "sade", "de1220"}, [this] { return algorithm; },
      [this](const std::string& chosen) { algorithm = chosen; },
      "of pagmo: covariance matrix adaptation, or self-adaptive differential evolution");
  list.add("population", population,
           "first population; 0: 4 + 3 ln n for cmaes (Hansen), 10 n for the others, n parameters",
           core::Range::between(0, 1e6));
  list.add("deviation", deviation, "cmaes: first one, in units of the parameters' ranges",
           core::Range{0, 1, true, false});
}

void SearcherConfigs::fields(core::FieldList& list) {
  list.group("bayesian", bayesian, "Bayesian optimisation with a Gaussian process");
  list.group("evolution", evolution, "evolutionary search by pagmo");
  list.group("policy_gradient", policy_gradient, "reinforcement learning of a normal policy");
}

core::Registry<SearcherMaker> searchers_of(const SearcherConfigs& configs) {
  core::Registry<SearcherMaker> registry("searcher");
  registry.add("bayesian", [config = configs.bayesian](const SearchStart& start) {
    return std::make_unique<searchers::Bayesian>(config, start);
  });
  registry.add("evolution", [config = configs.evolution](const SearchStart& start) {
    return std::make_unique<searchers::Evolution>(config, start);
  });
  registry.add("policy_gradient", [config = configs.policy_gradient](const SearchStart& start) {
    return std::make_unique<searchers::PolicyGradient>(config, start);
  });
  registry.add("random", [](const SearchStart& start) { return std::make_unique<Random>(start); });
  return registry;
}

}  // namespace sagips::optim
