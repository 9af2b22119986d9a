#include "sagips/env/outside/simulator_pool.hpp"

#include <filesystem>
#include <fstream>

#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

using core::text;

namespace {

// Not core::write_file: that waits for the disk, and nobody needs these arrays after a crash.
void write_array(const std::string& path, const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  std::vector<std::size_t> shape;
  for (const std::int64_t length : values.sizes())
    shape.push_back(static_cast<std::size_t>(length));
  std::ofstream file(path, std::ios::binary);
  file << core::npy_bytes({values.data_ptr<double>(), static_cast<std::size_t>(values.numel())},
                          shape);
  if (!file.flush())
    throw core::StorageError(path, "cannot be written. Free some space, or set TMPDIR.");
}

torch::Tensor read_array(const SimulatorProcess& process, const SimulatorPool::Request& request) {
  const std::string name = request.answer + ".npy";
  core::NpyArray array;
  try {
    array = core::read_npy(process.folder() + "/" + name);
  } catch (const core::DataError& problem) {
    process.fail(text("left no usable ", name, " (", problem.what(), ")"),
                 "Write it with numpy.save before answering.");
  }
  std::vector<std::int64_t> shape(array.shape.begin(), array.shape.end());
  if (shape.empty() || shape[0] != request.samples)
    process.fail(text("gave ", name, " of shape ", torch::IntArrayRef(shape), " for ",
                      request.samples, " samples"),
                 "Keep the samples as first dimension.");
  return torch::tensor(array.values, torch::kFloat64).view(shape);
}

void check_finite(const SimulatorProcess& process, const SimulatorPool::Request& request,
                  const torch::Tensor& values) {
  const torch::Tensor finite = torch::isfinite(values).reshape({values.size(0), -1}).all(1);
  if (finite.all().item<bool>()) return;
  const std::int64_t sample = torch::nonzero(~finite)[0].item<std::int64_t>();
  std::vector<std::string> input;
  const torch::Tensor row = request.arrays.front().second[sample].flatten().to(torch::kFloat64);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(row.numel(), 8); ++i)
    input.push_back(core::significant(row[i].item<double>(), 5));
  process.fail(text("gave NaN or infinity in ", request.answer, ".npy for the input (",
                    core::join(input, ", "), row.numel() > 8 ? ", ...)" : ")"),
               "Guard its formula or narrow the parameters' ranges.");
}

}  // namespace

torch::Tensor SimulatorPool::ask(const Request& request) {
  std::unique_ptr<SimulatorProcess> process = take();
  try {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++requests_;
    }
    for (const auto& [name, tensor] : request.arrays)
      write_array(process->folder() + "/" + name + ".npy", tensor);
    std::filesystem::remove(process->folder() + "/" + request.answer + ".npy");
    process->ask(text(request.verb, " ", number, " ", request.samples, " ", request.events),
                 text("done ", number));
    torch::Tensor answer = read_array(*process, request);
    check_finite(*process, request, answer);
    give_back(std::move(process));
    return answer;
  } catch (const std::exception& problem) {
    process.reset();  // whatever state it is in
    break_down(problem.what());
    throw;
  }
}

std::unique_ptr<SimulatorProcess> SimulatorPool::take() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return !broken_.empty() || !free_.empty() || started_ < processes_; });
    if (!broken_.empty()) throw core::Error(broken_);
    if (!free_.empty()) {
      std::unique_ptr<SimulatorProcess> process = std::move(free_.back());
      free_.pop_back();
      return process;
    }
    ++started_;
  }
  try {
    return std::make_unique<SimulatorProcess>(config_);
  } catch (const std::exception& problem) {
    break_down(problem.what());
    throw;
  }
}

void SimulatorPool::give_back(std::unique_ptr<SimulatorProcess> process) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(process));
  changed_.notify_one();
}

void SimulatorPool::break_down(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (broken_.empty()) broken_ = reason;
  changed_.notify_all();
}

}  // namespace sagips::env
