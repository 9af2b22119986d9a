#pragma once
#include <map>
#include <string>
#include <vector>

#include "sagips/data/examples.hpp"

namespace sagips::problem {

/// A quantity of real examples and of made ones along one axis.
struct ComparedCurve {
  std::string figure;  ///< curves of the same are its panels; up to three have their ratios below
  std::string title{}, x_label{}, y_label{};
  bool is_logarithmic = false;  ///< along y
  std::vector<double> x{};      ///< of each value; of a histogram edges, one more
  std::vector<double> real{}, made{}, real_errors{}, made_errors{};  ///< statistical errors
};

/// Correlations between the same quantities. shape: row-major [names, names]
struct ComparedMatrix {
  std::string figure;
  std::vector<std::string> names{};
  std::vector<double> real{}, made{};
};

/// Examples as pictures.
struct ExampleView {
  std::string name, title;      ///< of files; what it shows
  torch::Tensor images;         ///< [rows, height, width], from the top
  bool is_logarithmic = false;  ///< they span decades, and none is below 0
};

/// What tells how alike made and real examples are. It keeps few numbers of each, so that examples need not
/// fit into memory.
class ExampleComparison {
 public:
  virtual ~ExampleComparison() = default;
  /// Further rows; how many at a time makes no difference.
  /// made: for the targets of the real ones. shape: of the real inputs
  virtual void add(const data::Examples& real, const torch::Tensor& made) = 0;
  /// Metrics, the same names whatever the rows are; smaller is better.
  virtual std::map<std::string, double> numbers() const = 0;
  virtual std::vector<ComparedCurve> curves() const = 0;
  virtual std::vector<ComparedMatrix> matrices() const = 0;
  /// Numbers of each example that a classifier may tell made from real ones by. shape: [rows, features]
  struct Features {
    torch::Tensor real, made;
  };
  virtual Features features() const = 0;
};

}  // namespace sagips::problem
