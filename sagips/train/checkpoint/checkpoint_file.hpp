#pragma once
#include "sagips/nn/state.hpp"
#include "sagips/record/tensor_file.hpp"

namespace sagips::train {

/// A state as arrays that a file can hold, bit for bit; and back, on the CPU.
/// throws: StateError for a type that no state has
record::TensorFile to_file(const nn::State& state);
nn::State to_state(const record::TensorFile& file);

}  // namespace sagips::train
