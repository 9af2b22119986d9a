#include <sagips/cli/program.hpp>

struct Decay {  // times of exponential decays, smeared by a clock of 0.3 us
  torch::Tensor operator()(torch::Tensor lifetime, sagips::env::Noise& noise) const {
    return (lifetime * -torch::log(noise.uniform()) + 0.3 * noise.normal()).unsqueeze(2);
  }
};

int main(int argc, char** argv) {
  sagips::problem::SimpleWorkload decay{"decay", "lifetime of an unstable particle"};
  decay.parameters = {{.name = "lifetime", .unit = "us", .low = 0.1, .high = 5, .toy = 2.2}};
  decay.pipeline = {Decay{}};
  decay.observables = {{"t", "us"}};
  return sagips::cli::run(argc, argv, {decay});
}
