#include "sagips/nn/device.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <torch/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/processors.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device_library.hpp"

namespace sagips::nn {

namespace {

const char* given_folder() {
  const char* const folder = std::getenv("SAGIPS_CUDA_FOLDER");
  return folder == nullptr || *folder == '\0' ? nullptr : folder;
}

std::string in_given_folder(const std::string& name) {
  const char* const folder = given_folder();
  if (folder == nullptr) return {};
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  return std::filesystem::exists(path) ? path.string() : std::string();
}

// Why the folder that is given serves nothing; empty: it does, or none is.
std::string empty_given_folder() {
  const char* const folder = given_folder();
  if (folder == nullptr) return {};
  for (const char* const name : {"libtorch_cuda.so", "libsagips_cuda.so", "libnccl.so.2"})
    if (!in_given_folder(name).empty()) return {};
  return core::text("SAGIPS_CUDA_FOLDER is ", folder,
                    ", which holds neither libtorch_cuda.so nor libsagips_cuda.so");
}

/// LibTorch's part for GPUs and our own, opened once and for good.
class Cuda {
 public:
  static const Cuda& opened() {
    static const Cuda cuda;
    return cuda;
  }
  /// Why there is none; empty: there is one.
  const std::string& lack() const { return lack_; }
  int devices() const { return devices_; }
  /// Null: our own passes are not there.
  const DeviceLibrary* library() const { return library_.interface ? &library_ : nullptr; }
  const std::string& lack_of_library() const { return lack_of_library_; }

 private:
  Cuda() {
    const std::string name = "libtorch_cuda.so";
    if (const std::string nothing = empty_given_folder(); !nothing.empty()) {
      lack_ = nothing;
      return;
    }
    // Python's PyTorch has opened its own, and two cannot be in one process.
    void* opened = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (opened == nullptr) opened = ::dlopen(torch_library(name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      lack_ = core::text("LibTorch's part for GPUs cannot be opened (", ::dlerror(),
                         "); tools/setup.sh installs it where it finds an NVIDIA GPU, and "
                         "SAGIPS_CUDA_FOLDER names another place");
      return;
    }
    if (c10::impl::hasDeviceGuardImpl(torch::kCUDA))
      devices_ =
          static_cast<unsigned char>(c10::impl::getDeviceGuardImpl(torch::kCUDA)->deviceCount());
    if (devices_ == 0) {
      lack_ = "no NVIDIA GPU is seen (nvidia-smi shows those that are there)";
      return;
    }
    open_library();
  }

  /// Where a library is looked for: in SAGIPS_CUDA_FOLDER, then beside what it belongs to.
  static std::string torch_library(const std::string& name) {
    if (std::string given = in_given_folder(name); !given.empty()) return given;
    Dl_info torch{};
    ::dladdr(reinterpret_cast<void*>(&at::get_num_threads),
             &torch);  // NOLINT: what dladdr asks for
    return std::filesystem::path(torch.dli_fname).replace_filename(name);
  }

  void open_library() {
    const std::string name = "libsagips_cuda.so";
    std::string path = in_given_folder(name);
    const auto own = std::filesystem::path(core::own_image()).parent_path();
    for (const auto& folder : {own, own / "..", own / "../lib"})
      if (path.empty() && std::filesystem::exists(folder / name)) path = folder / name;
    if (path.empty()) {
      lack_of_library_ = core::text(name,
                                    " is neither beside the program nor in "
                                    "SAGIPS_CUDA_FOLDER");
      return;
    }
    void* const opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      lack_of_library_ = core::text(path, " cannot be opened: ", ::dlerror());
      return;
    }
    DeviceLibrary found;
    bool is_whole = true;
#define SAGIPS_CUDA_MEMBER(name)                                                              \
  found.name = reinterpret_cast<decltype(found.name)>(::dlsym(opened, "sagips_cuda_" #name)); \
  is_whole = is_whole && found.name != nullptr;
    SAGIPS_CUDA_CALLS(SAGIPS_CUDA_MEMBER)
#undef SAGIPS_CUDA_MEMBER
    if (!is_whole || found.interface() != SAGIPS_CUDA_INTERFACE) {
      lack_of_library_ = core::text(path, " is of another version of SAGIPS");
      return;
    }
    library_ = found;
  }

  std::string lack_, lack_of_library_;
  int devices_ = 0;
  DeviceLibrary library_{};
};

int turn = 0;
std::string lack_of_gpu;  ///< where device=auto was asked for and is a CPU
std::atomic<Precision> chosen_precision{Precision::float32};
std::optional<std::pair<bool, bool>> rounded_before;  ///< LibTorch's products, and cuDNN's

bool has_driver() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) ::dlclose(driver);
  return driver != nullptr || given_folder() != nullptr;
}

}  // namespace

void set_precision(Precision precision) {
  chosen_precision = precision;
  const bool is_rounded = precision != Precision::float32;
  try {
    if (!rounded_before)
      rounded_before = {at::globalContext().allowTF32CuBLAS(),
                        at::globalContext().allowTF32CuDNN()};
  } catch (
      const c10::Error&) {  // NOLINT(bugprone-empty-catch): set by calls that these do not know
  }
  at::globalContext().setAllowTF32CuBLAS(is_rounded);
  at::globalContext().setAllowTF32CuDNN(is_rounded);
}

Precision precision() { return chosen_precision; }

void leave_precision() {
  if (!rounded_before) return;
  at::globalContext().setAllowTF32CuBLAS(rounded_before->first);
  at::globalContext().setAllowTF32CuDNN(rounded_before->second);
  rounded_before.reset();
}

void wait_for(const torch::Device& device) {
  if (device.is_cpu()) return;
  const auto* const guard = c10::impl::getDeviceGuardImpl(device.type());
  guard->synchronizeStream(guard->getStream(device));
}

bool works(const torch::Device& device) {
  if (device.is_cpu()) return false;
  const auto* const guard = c10::impl::getDeviceGuardImpl(device.type());
  return !guard->queryStream(guard->getStream(device));
}

GpuMemory memory_of(const torch::Device& device) {
  c10::DeviceAllocator& memory = *c10::getDeviceAllocator(device.type());
  const auto [free, all] = memory.getMemoryInfo(device.index());
  const c10::CachingDeviceAllocator::DeviceStats stats = memory.getDeviceStats(device.index());
  const auto& kept = stats.reserved_bytes[0];  // of which LibTorch uses some
  return {static_cast<std::int64_t>(free) + kept.current - stats.allocated_bytes[0].current,
          static_cast<std::int64_t>(all), kept.peak};
}

void* open_gpu_library(const std::string& name) {
  const std::string given = in_given_folder(name);
  return ::dlopen(given.empty() ? name.c_str() : given.c_str(), RTLD_NOW | RTLD_LOCAL);
}

void take_turn(int number) { turn = number; }

const DeviceLibrary* device_library(const torch::Device& device) {
  return device.is_cuda() ? Cuda::opened().library() : nullptr;
}

std::string lack_of_passes(const torch::Device& device) {
  return device.is_cuda() ? Cuda::opened().lack_of_library() : std::string();
}

std::string described(const torch::Device& device) {
  if (device.is_cpu()) return lack_of_gpu.empty() ? "" : "CPU: " + lack_of_gpu;
  const std::string lack = lack_of_passes(device);
  return core::text("GPU ", static_cast<int>(device.index()), " of ", Cuda::opened().devices(),
                    lack.empty() ? ", with passes of SAGIPS" : ", LibTorch alone: " + lack);
}

torch::Device device_from_name(const std::string& name) {
  const auto refuse = [&](const auto&... why) {
    throw core::ConfigError("device", core::text("'", name, "': ", why..., ". Use device=cpu."));
  };
  const torch::Device cpu(torch::kCPU);
  if (name == "cpu") return cpu;
  const bool is_part = name.rfind("MIG-", 0) == 0, is_auto = name == "auto";
  std::size_t digits = 0;
  if (name.rfind("cuda:", 0) == 0) digits = name.size() - 5;
  if (!is_part && !is_auto && name != "cuda" &&
      (digits == 0 || digits > 3 || name.find_first_not_of("0123456789", 5) != std::string::npos))
    throw core::ConfigError(
        "device",
        core::text("unknown device '", name, "', known: auto, cpu, cuda, cuda:NUMBER, MIG-NAME"));
  // The driver reads it when it is first asked.
  if (is_part) ::setenv("CUDA_VISIBLE_DEVICES", name.c_str(), 1);
  const std::string lack = has_driver() ? Cuda::opened().lack() : "NVIDIA's driver is not here";
  lack_of_gpu = is_auto ? lack : "";
  if (!lack.empty()) {
    if (is_auto) return cpu;
    refuse(lack);
  }
  const Cuda& cuda = Cuda::opened();
  const int number = digits > 0 ? std::stoi(name.substr(5)) : is_part ? 0 : turn % cuda.devices();
  if (number >= cuda.devices())
    refuse("this process sees ", cuda.devices(), cuda.devices() == 1 ? " GPU" : " GPUs",
           ", and they count from 0");
  const torch::Device device(torch::kCUDA, static_cast<c10::DeviceIndex>(number));
  c10::impl::getDeviceGuardImpl(torch::kCUDA)->setDevice(device);
  return device;
}

int allowed_processors() {
  const cpu_set_t allowed = core::allowed_processors();
  return CPU_COUNT(&allowed);
}

namespace {

// Threads of GNU's OpenMP wait for their next work without sleeping, some milliseconds each time,
// unless there are more of them than processors (its manual, GOMP_SPINCOUNT). On processors that
// others use too, that costs many times what the threads give. Hence some that do nothing.
void let_waiting_threads_sleep() {
  static const bool idle_threads = [] {
    constexpr std::int64_t shared_numbers = 100'000;  // more than LibTorch leaves to one thread
    const int team = allowed_processors() + 1;
    std::promise<void> started;
    std::thread([team, &started] {
      at::set_num_threads(team);
      torch::zeros({shared_numbers}).add_(1);  // the first operation starts them
      started.set_value();
      for (;;) ::pause();
    }).detach();
    started.get_future().wait();
    return true;
  }();
  static_cast<void>(idle_threads);
}

}  // namespace

int set_threads(std::int64_t threads, int sharing) {
  // at start LibTorch follows OMP_NUM_THREADS; whoever set it means it
  if (threads == 0 && std::getenv("OMP_NUM_THREADS")) threads = at::get_num_threads();
  if (threads == 0) threads = std::max(1, allowed_processors() / sharing);
  constexpr int most_processors =
      64;  // of more, threads that do nothing would meet limits of processes
  if (threads > 1 && allowed_processors() <= most_processors) let_waiting_threads_sleep();
  at::set_num_threads(static_cast<int>(threads));
  return at::get_num_threads();
}

}  // namespace sagips::nn
