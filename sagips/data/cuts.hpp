#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sagips/data/table.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Compares a value with a bound.
struct Comparison {
  std::string_view sign;          ///< "<="
  std::string_view mirror_image;  ///< ">=": the sign that says the same with its sides swapped
  int direction;                  ///< -1: the value lies below the bound; 1: above; 0: neither
  bool (*holds)(const double& value, double bound);
  torch::Tensor (*holds_of_each)(const torch::Tensor& values, double bound);
};

/// One condition on one column: "pt1 > 20", "20 < pt1", "70 < M <= 110", "110 > M > 70".
class Cut {
 public:
  /// Where both sides of a single comparison are numbers, the left one is a column ("1 > 20": the
  /// second column of an array). throws: ConfigError
  explicit Cut(const std::string& condition);

  const std::string& condition() const { return condition_; }
  NeededColumn column() const;
  bool passes(double value) const;
  /// shape: [...] -> [...] bool
  torch::Tensor passes(const torch::Tensor& values) const;

 private:
  struct Bound {
    Comparison comparison;
    double number;
  };
  std::string condition_;
  std::string column_;
  std::vector<Bound> bounds_;
};

/// The events that pass all cuts, in order. shape: indices into the table
/// left: how many events there were, then how many each cut left; this table's are added
std::vector<std::size_t> passing_events(const Table& table, const std::vector<Cut>& cuts,
                                        std::vector<std::size_t>& left);

/// throws: DataError when there were no events or a cut removed the last one, naming that cut
void check_events_left(const std::string& file, const std::vector<Cut>& cuts,
                       const std::vector<std::size_t>& left);

}  // namespace sagips::data
