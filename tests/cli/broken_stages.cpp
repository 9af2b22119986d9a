#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "sagips/cli/program.hpp"

// A program of a user whose stages are wrong, each in its own way.

namespace {

struct WrongShape {
  torch::Tensor operator()(torch::Tensor p, sagips::env::Noise& noise) const {
    return p * noise.uniform();
  }
};

struct CutsGradient {
  torch::Tensor operator()(torch::Tensor p, sagips::env::Noise& noise) const {
    return (p.detach() * noise.uniform()).unsqueeze(2);
  }
};

struct Throws {
  torch::Tensor operator()(torch::Tensor p, sagips::env::Noise&) const {
    return p.matmul(torch::ones({7, 7}));
  }
};

// Right for a while, then wrong on rank 1 alone.
struct FailsOnRankOne {
  torch::Tensor operator()(torch::Tensor p, sagips::env::Noise& noise) const {
    static std::atomic<int> calls = 0;
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("PMI_RANK");
    if (rank != nullptr && std::string(rank) == "1" && ++calls > 60)
      throw std::runtime_error("the detector is on fire");
    return (p * noise.uniform()).unsqueeze(2);
  }
};

sagips::problem::SimpleWorkload workload(const std::string& name, sagips::env::Stage stage) {
  sagips::problem::SimpleWorkload broken;
  broken.name = name;
  broken.summary = "for a test";
  broken.parameters = {{.name = "scale", .low = 0.1, .high = 5, .toy = 2.2}};
  broken.pipeline = {std::move(stage)};
  broken.observables = {{"x", ""}};
  return broken;
}

}  // namespace

int main(int argc, char** argv) {
  return sagips::cli::run(
      argc, argv,
      {workload("wrong_shape", WrongShape{}), workload("cuts_gradient", CutsGradient{}),
       workload("throws", Throws{}), workload("fails_on_rank_one", FailsOnRankOne{})});
}
