#pragma once
#include <exception>
#include <functional>
#include <span>
#include <string>

#include <torch/types.h>

#include "sagips/nn/parameter.hpp"

namespace torch::jit {
struct Module;
}

namespace sagips::nn {

/// The line of a message of LibTorch that says what is wrong; others say where.
std::string reason_of(const std::string& message);
/// What an exception says in one line: of LibTorch without where it was thrown, of memory what to do.
std::string first_line(const std::exception& error);

/// A TorchScript module as its file holds it, on the CPU. throws: core::DataError
torch::jit::Module load_script(const std::string& path);

/// The function of rows that a TorchScript module is, as it predicts; threads may call it at a time.
/// throws: core::DataError, also when it is called with rows that it cannot take
std::function<torch::Tensor(const torch::Tensor& rows)> script_function(const std::string& path);

/// The TorchScript module of a file with other numbers in its parameters and buffers, and set to
/// predict, as a file that Python's torch.jit.load reads.
/// throws: core::DataError when the first file is not what the tensors are of, core::StorageError
void save_script(const std::string& from, const std::string& to,
                 std::span<const NamedTensor> tensors);

}  // namespace sagips::nn
