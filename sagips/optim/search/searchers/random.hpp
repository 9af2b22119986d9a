#pragma once
#include "sagips/core/random.hpp"
#include "sagips/optim/search/searcher.hpp"

namespace sagips::optim::searchers {

/// Points drawn evenly: what every other searcher must beat.
class Random final : public Searcher {
 public:
  explicit Random(const SearchStart& start);
  std::vector<Point> ask(std::size_t most) override;
  void tell(const std::vector<double>&) override {}

 private:
  SearchStart start_;
  core::RandomStream stream_;
  std::uint32_t asked_ = 0;
};

}  // namespace sagips::optim::searchers
