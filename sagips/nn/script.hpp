#pragma once
#include <span>
#include <string>

#include "sagips/nn/parameter.hpp"

namespace torch::jit {
struct Module;
}

namespace sagips::nn {

/// The line of a message of LibTorch that says what is wrong; others say where.
std::string reason_of(const std::string& message);

/// A TorchScript module as its file holds it, on the CPU. throws: core::DataError
torch::jit::Module load_script(const std::string& path);

/// The TorchScript module of a file with other numbers in its parameters and buffers, and set to
/// predict, as a file that Python's torch.jit.load reads.
/// throws: core::DataError when the first file is not what the tensors are of, core::StorageError
void save_script(const std::string& from, const std::string& to,
                 std::span<const NamedTensor> tensors);

}  // namespace sagips::nn
