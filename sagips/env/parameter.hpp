#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/constant.hpp"

#include "sagips/core/config/config.hpp"

namespace sagips::env {

/// One unknown of a physics model.
struct Parameter {
  std::string name;
  std::string unit{};             ///< empty: a pure number
  double low = 0, high = 1;       ///< physical range; the parameter lies strictly inside
  std::optional<double> truth{};  ///< when known (closure test), physical
  std::optional<double> fixed{};  ///< held at this value, physical; absent: free
  std::optional<double>
      toy{};  ///< value that toy data are made with; becomes the truth of a run on them
  std::string help{};
  bool periodic = false;  ///< both ends of the range are the same point, as of a phase

  /// The fields a config may change: low, high, truth, fixed, toy, periodic.
  void fields(core::FieldList& list);
  /// That value of a periodic parameter, by whole periods, which is nearest to another; of others itself.
  double nearest(double value, double other) const;
  double middle() const { return (low + high) / 2; }  ///< of the range
  /// (true - value) / true; nothing where that is unknown or 0.
  std::optional<double> relative_residual(double value) const;
};

/// Adds the fields of each to a config, in the group `parameters`.
void add_parameters(core::FieldList& list, std::vector<Parameter>& parameters);

/// The parameters of an environment, and the one place that converts between their three forms:
/// physical units, unit interval g in (0, 1), and logit theta = ln(g / (1 - g)).
///
/// Physical tensors hold all parameters; unit and logit tensors hold the free ones. Last dimension
/// = parameters. A unit beyond 0 .. 1 of a periodic parameter is another turn of the circle; physical values
/// lie in the range.
class ParameterSet {
 public:
  ParameterSet() = default;
  /// throws: ConfigError for an empty range, a value outside its range, no free parameter, a name
  /// twice
  explicit ParameterSet(std::vector<Parameter> parameters);

  const std::vector<Parameter>& all() const { return parameters_; }
  const std::vector<std::size_t>& free() const { return free_; }
  std::int64_t size() const { return static_cast<std::int64_t>(parameters_.size()); }
  std::int64_t free_size() const { return static_cast<std::int64_t>(free_.size()); }
  std::vector<std::string> names() const;
  /// Whether each is, of the free ones. shape: [free]
  torch::Tensor periodic() const { return periodic_.on(torch::kCPU); }
  /// Periodic parameters between 0 and 1, the others as they are. unit, [..., free]
  torch::Tensor in_first_turn(const torch::Tensor& unit) const;
  /// The difference of two points, of periodic parameters the shorter way. unit, [..., free]
  torch::Tensor away(const torch::Tensor& unit, const torch::Tensor& from) const;

  torch::Tensor physical_from_unit(const torch::Tensor& unit) const;  ///< [..., free] -> [..., all]
  torch::Tensor physical_from_logit(
      const torch::Tensor& logit) const;  ///< [..., free] -> [..., all]
  torch::Tensor unit_from_physical(
      const torch::Tensor& physical) const;  ///< [..., all] -> [..., free]
  torch::Tensor logit_from_physical(const torch::Tensor& physical) const;

  /// All truths [all] in float64; fixed parameters count as known.
  /// throws: ConfigError naming the first unknown
  torch::Tensor truth() const;
  bool truth_known() const;
  /// The parameters of toy data: `toy`, else `truth`, else `fixed`, as truths of a new set.
  /// throws: ConfigError as above
  ParameterSet at_toy_values() const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<std::size_t> free_;
  Constant low_, width_;  ///< of the free ones. shape: [free]
  Constant fixed_;        ///< of all; a free one's number is not used. shape: [all]
  Constant places_;       ///< of the free ones among all
  Constant periodic_;
  bool has_periodic_ = false;
};

}  // namespace sagips::env
