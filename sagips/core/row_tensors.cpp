#include "sagips/core/row_tensors.hpp"

#include <functional>
#include <numeric>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {

std::int64_t RowTensor::numbers() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

void RowTensors::add(const std::string& name, std::vector<std::int64_t> shape, bool is_scaled) {
  tensors_.push_back({name, std::move(shape), numbers(), is_scaled});
}

std::int64_t RowTensors::numbers() const {
  return tensors_.empty() ? 0 : tensors_.back().first + tensors_.back().numbers();
}

std::vector<std::string> RowTensors::names() const {
  std::vector<std::string> names;
  for (const RowTensor& tensor : tensors_) names.push_back(tensor.name);
  return names;
}

const RowTensor& RowTensors::at(const std::string& name) const {
  for (const RowTensor& tensor : tensors_)
    if (tensor.name == name) return tensor;
  std::string message = text("There is no tensor '", excerpt(name), "'", suggestion(name, names()));
  if (!message.ends_with('?')) message += '.';
  throw Error(message);
}

std::string RowTensors::written() const {
  std::vector<std::string> parts;
  for (const RowTensor& tensor : tensors_) {
    std::vector<std::string> lengths;
    for (const std::int64_t length : tensor.shape) lengths.push_back(text(length));
    parts.push_back(text(tensor.name, " ", join(lengths, " x ")));
  }
  return join(parts, ", ");
}

}  // namespace sagips::core
