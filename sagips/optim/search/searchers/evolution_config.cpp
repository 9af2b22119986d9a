#include "sagips/optim/search/searchers/evolution.hpp"

namespace sagips::optim::searchers {

void Evolution::Config::fields(core::FieldList& list) {
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

}  // namespace sagips::optim::searchers
