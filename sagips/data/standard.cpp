#include "sagips/data/standard.hpp"

namespace sagips::data {

torch::Tensor Standard::apply(const torch::Tensor& rows) const {
  return mean.defined() ? ((rows.to(torch::kFloat64) - mean) / deviation).to(rows.scalar_type())
                        : rows;
}

torch::Tensor Standard::undo(const torch::Tensor& rows) const {
  return mean.defined() ? (rows.to(torch::kFloat64) * deviation + mean).to(rows.scalar_type())
                        : rows;
}

torch::Tensor Standard::apply_to(const torch::Tensor& rows, const torch::Tensor& numbers) const {
  if (!mean.defined() || rows.scalar_type() != torch::kFloat32 || !rows.is_contiguous())
    return apply(rows.index_select(0, numbers));
  std::vector<std::int64_t> shape = rows.sizes().vec();
  const torch::IntArrayRef row(shape.data() + 1, shape.size() - 1);
  const torch::Tensor means = mean.expand(row).contiguous(),
                      deviations = deviation.expand(row).contiguous();
  shape[0] = numbers.size(0);
  torch::Tensor result = torch::empty(shape);
  const std::int64_t width = means.numel();
  const torch::Tensor dense = numbers.contiguous();
  const auto* const number = dense.const_data_ptr<std::int64_t>();
  const auto* const all = rows.const_data_ptr<float>();
  const auto *const shift = means.const_data_ptr<double>(), *const scale =
                                                                deviations.const_data_ptr<double>();
  auto* const to = result.data_ptr<float>();
  for (std::int64_t i = 0; i < shape[0]; ++i)
    for (std::int64_t j = 0; j < width; ++j)
      to[i * width + j] = static_cast<float>(
          (static_cast<double>(all[number[i] * width + j]) - shift[j]) / scale[j]);
  return result;
}

}  // namespace sagips::data
