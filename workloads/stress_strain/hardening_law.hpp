#pragma once
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
  const char* unit() const { return form == Form::root ? "" : "MPa"; }  ///< of strength and stress
};

}  // namespace sagips::workloads
