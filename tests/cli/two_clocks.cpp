// A user's program whose problem has two data sets; the plug-in of the tests has the same stage.
#include "sagips/cli/program.hpp"

namespace {

struct Clock {
  double resolution;

  torch::Tensor operator()(torch::Tensor lifetime, sagips::env::Noise& noise) const {
    return (lifetime * -torch::log(noise.uniform()) + resolution * noise.normal()).unsqueeze(2);
  }
};

}  // namespace

int main(int argc, char** argv) {
  sagips::problem::SimpleWorkload clocks{"clocks", "two detectors see the same decays"};
  clocks.parameters = {{.name = "lifetime", .unit = "us", .low = 0.1, .high = 5, .toy = 2.2}};
  clocks.channels = {{.name = "near", .pipeline = {Clock{0.3}}, .observables = {{"t", "us"}}},
                     {.name = "far", .pipeline = {Clock{0.5}}, .observables = {{"t", "us"}}}};
  return sagips::cli::run(argc, argv, {clocks});
}
