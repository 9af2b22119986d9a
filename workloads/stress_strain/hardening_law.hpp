#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::workloads {

/// What stress a strained material has, by two parameters.
///
///   hollomon: stress = strength strain^exponent
///   root:     stress = strength strain^(1 / exponent)
///
/// shape:  strength, exponent and strain, which broadcast against each other
/// units:  stress as strength; strain none, above 0
/// source: Hollomon, Trans. AIME 162 (1945) 268; docs/physics/stress_strain.md
struct HardeningLaw {
  enum class Form { hollomon, root };
  Form form = Form::hollomon;

  void fields(core::FieldList& list);
  torch::Tensor stress(const torch::Tensor& strength, const torch::Tensor& exponent,
                       const torch::Tensor& strain) const;
  /// The power of the strain that an exponent stands for.
  double power(double exponent) const { return form == Form::root ? 1 / exponent : exponent; }
  const char* formula() const {
    return form == Form::root ? "strength strain^(1 / exponent)" : "strength strain^exponent";
  }
  const char* unit() const { return form == Form::root ? "" : "MPa"; }  ///< of strength and stress
};

/// The numbers of curves in a file.
struct CurveRanges {
  using Range = std::pair<double, double>;
  Range strain{HUGE_VAL, -HUGE_VAL}, stress = strain;

  /// A line on curves that are not those expected, with the likely cause: another unit, unless they are known to be
  /// of another law
  std::string remark(const std::string& file, const std::string& expected,
                     bool is_another_law = false) const;
};

/// Curves beside what the law makes of their own parameters.
class LawComparison {
 public:
  explicit LawComparison(HardeningLaw law) : law_(law) {}

  /// shape: curves [rows, points, (strain, stress, flag)], parameters [rows, (strength, exponent)]
  void add(const torch::Tensor& curves, const torch::Tensor& parameters);
  /// Empty: most of them follow the law, give or take the noise.
  std::string remark(const std::string& file) const;

 private:
  HardeningLaw law_;
  CurveRanges ranges_;
  std::int64_t points_ = 0, off_ = 0;
  double logarithms_ = 0,
         squares_ = 0;  ///< of stresses over those of the law, and their squares, summed
};

}  // namespace sagips::workloads
