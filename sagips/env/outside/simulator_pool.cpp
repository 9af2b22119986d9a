#include "sagips/env/outside/simulator_pool.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>

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

std::string path_of(const SimulatorProcess& process, const std::string& name) {
  return process.folder() + "/" + name + ".npy";
}

torch::Tensor read_array(const SimulatorProcess& process, const SimulatorPool::Request& request,
                         const std::string& array_name) {
  const std::string name = array_name + ".npy";
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
               "Guard its formula, narrow the parameters' ranges, or say what such rows are: "
               "nan_is_lost: true, or on_error: skip.");
}

// Consecutive shares of the samples.
std::vector<SimulatorPool::Request> divided(const SimulatorPool::Request& whole,
                                            std::int64_t parts) {
  std::vector<SimulatorPool::Request> requests;
  for (std::int64_t i = 0, first = 0; i < parts; ++i) {
    SimulatorPool::Request part = whole;
    part.samples = whole.samples / parts + (i < whole.samples % parts ? 1 : 0);
    for (auto& [name, tensor] : part.arrays) tensor = tensor.narrow(0, first, part.samples);
    first += part.samples;
    requests.push_back(std::move(part));
  }
  return requests;
}

}  // namespace

SimulatorPool::Arrays SimulatorPool::ask(const Request& request,
                                         const std::function<void(Arrays& arrays)>& made) {
  const auto ask_part = [&](const Request& part) {
    Arrays arrays = ask_one(part);
    if (made) made(arrays);
    return arrays;
  };
  const std::vector<Request> all = divided(request, parts(request));
  std::vector<std::future<Arrays>> others;
  for (std::size_t i = 1; i < all.size(); ++i)
    others.push_back(std::async(std::launch::async, [&, i] {
      torch::NoGradGuard no_grad;
      return ask_part(all[i]);
    }));
  Arrays whole = ask_part(all[0]);
  std::map<std::string, std::vector<torch::Tensor>> parts;
  for (auto& [name, tensor] : whole) parts[name].push_back(tensor);
  for (auto& other : others)
    for (auto& [name, tensor] : other.get()) parts[name].push_back(tensor);
  for (auto& [name, tensors] : parts) {
    if (tensors.size() != all.size())
      throw core::Error(text("the simulator '", config_.command, "' gave ", name,
                             ".npy for some samples and not for others. Give it always or never."));
    for (const torch::Tensor& tensor : tensors)
      if (tensor.sizes().slice(1) != tensors[0].sizes().slice(1))
        throw core::Error(text("the simulator '", config_.command, "' gave ", name,
                               ".npy of shapes ", tensors[0].sizes(), " and ", tensor.sizes(),
                               " for samples of one call. Give one shape, and counts.npy where "
                               "samples have fewer events."));
    whole[name] = torch::cat(tensors);
  }
  return whole;
}

// A part must save a quarter of the time: where a call costs the same whatever it holds, parts would
// only keep simulators from other calls.
std::int64_t SimulatorPool::parts(const Request& request) {
  const auto most = std::min(processes(), request.samples);
  if (most < 2) return 1;
  const std::lock_guard lock(mutex_);
  const Times& known = times_[{request.verb, request.events}];
  if (known.few == known.many) return 1;  // nothing to compare yet
  const double slope =
      std::max(0.0, (known.many_s - known.few_s) / static_cast<double>(known.many - known.few));
  const auto time_of = [&](double samples) {
    return std::max(0.0, known.few_s + slope * (samples - static_cast<double>(known.few)));
  };
  const auto whole = static_cast<double>(request.samples);
  return time_of(whole / static_cast<double>(most)) < 0.75 * time_of(whole) ? most : 1;
}

void SimulatorPool::note_time(const Request& request, double seconds) {
  const std::lock_guard lock(mutex_);
  Times& known = times_[{request.verb, request.events}];
  const std::int64_t samples = request.samples;
  if (known.few == 0) known = {samples, samples, seconds, seconds};
  if (samples < known.few || (samples == known.few && seconds < known.few_s)) {
    known.few = samples;
    known.few_s = seconds;
  }
  if (samples > known.many || (samples == known.many && seconds < known.many_s)) {
    known.many = samples;
    known.many_s = seconds;
  }
}

SimulatorPool::Arrays SimulatorPool::ask_one(const Request& request) {
  std::unique_ptr<SimulatorProcess> process = take();
  try {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++requests_;
    }
    for (const auto& [name, tensor] : request.arrays) write_array(path_of(*process, name), tensor);
    std::filesystem::remove(path_of(*process, request.answer));
    for (const std::string& name : request.extras) std::filesystem::remove(path_of(*process, name));
    const auto began = std::chrono::steady_clock::now();
    process->ask(text(request.verb, " ", number, " ", request.samples, " ", request.events),
                 text("done ", number));
    note_time(request,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    Arrays arrays = {{request.answer, read_array(*process, request, request.answer)}};
    for (const std::string& name : request.extras)
      if (std::filesystem::exists(path_of(*process, name)))
        arrays[name] = read_array(*process, request, name);
    if (request.finite) check_finite(*process, request, arrays.at(request.answer));
    give_back(std::move(process));
    return arrays;
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
