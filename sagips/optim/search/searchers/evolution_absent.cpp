// Stands in for evolution.cpp in a build without pagmo.
#include "sagips/core/error.hpp"
#include "sagips/optim/search/searchers/evolution.hpp"

namespace sagips::optim::searchers {

class Evolution::Run {};

Evolution::Evolution(const Config&, const SearchStart&) {
  throw core::ConfigError(
      "evolution",
      "needs pagmo, which was not there when this program was built. Install it (Debian: apt-get "
      "install libpagmo-dev) and build again, or take another method or searcher.");
}
Evolution::~Evolution() = default;
std::vector<Point> Evolution::ask(const std::vector<Trial>&, std::size_t) { return {}; }

}  // namespace sagips::optim::searchers
