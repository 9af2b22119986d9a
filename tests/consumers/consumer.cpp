// A user's own program: reads a config of its own through the library and prints one value.
#include <iostream>

#include "sagips/core/config/config.hpp"
#include "sagips/core/version.hpp"

namespace core = sagips::core;

struct DetectorConfig {
  double resolution = 1.0;
  void fields(core::FieldList& list) {
    list.add("resolution", resolution, "width of the smearing, GeV", core::Range::positive());
  }
};

int main() {
  const auto document = core::ConfigDocument::from_text("resolution: 1.5", "inline");
  const auto config = core::read_config(document, DetectorConfig{});
  std::cout << "sagips " << core::version() << ", resolution " << config.resolution << '\n';
}
