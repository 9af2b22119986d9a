#include "sagips/train/checkpoint/checkpoint_file.hpp"

#include <cstring>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::train {

namespace {

using Type = record::StoredTensor::Type;

constexpr std::pair<torch::ScalarType, Type> types[] = {{torch::kFloat32, Type::f32},
                                                        {torch::kFloat64, Type::f64},
                                                        {torch::kInt64, Type::i64},
                                                        {torch::kInt32, Type::i32},
                                                        {torch::kUInt8, Type::u8}};

Type stored_type(const std::string& name, torch::ScalarType type) {
  for (const auto& [known, stored] : types)
    if (known == type) return stored;
  throw core::StateError(core::text("'", name, "' holds ", toString(type),
                                    ", which checkpoints cannot (it would be lost). Report this."));
}

torch::ScalarType torch_type(Type stored) {
  for (const auto& [type, known] : types)
    if (known == stored) return type;
  return torch::kFloat32;
}

}  // namespace

record::TensorFile to_file(const nn::State& state) {
  record::TensorFile file;
  for (const auto& [name, value] : state) {
    const torch::Tensor plain = value.detach().cpu().contiguous();
    record::StoredTensor stored{stored_type(name, plain.scalar_type()), plain.sizes().vec(), {}};
    stored.bytes.assign(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
    file.tensors[name] = std::move(stored);
  }
  return file;
}

nn::State to_state(const record::TensorFile& file) {
  nn::State state;
  for (const auto& [name, stored] : file.tensors) {
    torch::Tensor value = torch::empty(stored.shape, torch_type(stored.type));
    if (!stored.bytes.empty())
      std::memcpy(value.data_ptr(), stored.bytes.data(), stored.bytes.size());
    state[name] = std::move(value);
  }
  return state;
}

}  // namespace sagips::train
