#include "workloads/stress_strain/hardening_law.hpp"

namespace sagips::workloads {

void HardeningLaw::fields(core::FieldList& list) {
  list.choice("law", form, {{"hollomon", Form::hollomon}, {"root", Form::root}},
              "stress = strength strain^exponent, or strength strain^(1 / exponent)");
}

torch::Tensor HardeningLaw::stress(const torch::Tensor& strength, const torch::Tensor& exponent,
                                   const torch::Tensor& strain) const {
  return strength * torch::pow(strain, form == Form::root ? 1 / exponent : exponent);
}

}  // namespace sagips::workloads
