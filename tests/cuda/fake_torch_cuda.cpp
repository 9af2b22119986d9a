// A stand-in for libtorch_cuda.so, so that all that runs on a GPU runs on machines without one: device "cuda", whose
// memory is this machine's and whose operations are LibTorch's on the CPU. Like a GPU it refuses operations on
// numbers of both, and tells how often numbers were read back.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sagips/cuda/interface.h"

namespace at {  // where the registry's macro looks for its names
namespace {

class CUDAHooks final : public CUDAHooksInterface {
 public:
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  int getNumGPUs() const override { return 1; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex current_device() const override { return 0; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  const Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const Generator generator = at::detail::createCPUGenerator();  // who seeds all seeds it
    return generator;
  }
  Device getDeviceFromPtr(void*) const override { return {kCUDA, 0}; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
};
REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace
}  // namespace at

namespace {

std::atomic<std::int64_t> reads{0};

using Work = std::function<void()>;
/// Streams are numbers; what is put on one may become a graph. LibTorch's backward passes run on a thread of their
/// own, with the stream of the forward pass.
constexpr std::size_t most_streams = 4096;
std::atomic<std::size_t> streams{1};
thread_local std::size_t stream = 0;
/// The graph that is being made of a stream; null: none is.
std::vector<Work>*& making() {
  static auto& of_streams = *new std::array<std::vector<Work>*, most_streams>{};
  return of_streams.at(stream);
}

/// The GPU's memory: a part of this process's that can be touched only while an operation runs, so that who reads it
/// from the CPU ends as on a GPU, by a signal.
class Memory {
 public:
  /// Somebody may touch it as long as this lives.
  struct Open {
    Open() { all().open(); }
    ~Open() { all().close(); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
  };

  static Memory& all() {
    static auto* const memory = new Memory;  // tensors may outlive what is static
    return *memory;
  }
  static constexpr std::size_t reserved = std::size_t{8} << 30;
  std::atomic<std::size_t> largest = reserved;  ///< piece of it
  std::size_t used() {
    const std::lock_guard lock(mutex_);
    return used_;
  }
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(bytes, 64));
    std::vector<char*>& kept = free_[size];
    TORCH_CHECK_WITH(OutOfMemoryError, size <= largest, "CUDA out of memory");
    if (kept.empty()) {
      TORCH_CHECK_WITH(OutOfMemoryError, used_ + size <= reserved, "CUDA out of memory");
      if (key_ < 0 && opened_ > 0) ::mprotect(first_ + used_, size, PROT_READ | PROT_WRITE);
      kept.push_back(first_ + used_);
      used_ += std::max<std::size_t>(size, 4096);
    }
    char* const memory = kept.back();
    kept.pop_back();
    sizes_[memory] = size;
    return memory;
  }
  /// Everybody may touch it from now on.
  void open_for_good() {
    if (key_ >= 0)
      ::pkey_mprotect(first_, reserved, PROT_READ | PROT_WRITE, 0);
    else
      open();
  }
  void give(void* memory) {
    const std::lock_guard lock(mutex_);
    free_[sizes_.at(memory)].push_back(static_cast<char*>(memory));
  }

 private:
  Memory()
      : first_(static_cast<char*>(::mmap(nullptr, reserved, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (key_ >= 0) ::pkey_mprotect(first_, reserved, PROT_READ | PROT_WRITE, key_);
  }
  // A key of the processor's is a thread's own and costs next to nothing; without one pages are opened for all threads.
  void open() {
    if (key_ >= 0) {
      if (opened_here++ > 0) return;
      threads_before = at::get_num_threads();
      if (threads_before > 1) at::set_num_threads(1);  // others have no key
      ::pkey_set(key_, 0);
      return;
    }
    const std::lock_guard lock(mutex_);
    if (opened_++ == 0) ::mprotect(first_, used_, PROT_READ | PROT_WRITE);
  }
  void close() {
    if (key_ >= 0) {
      if (--opened_here > 0) return;
      ::pkey_set(key_, PKEY_DISABLE_ACCESS);
      if (threads_before > 1) at::set_num_threads(threads_before);
      return;
    }
    const std::lock_guard lock(mutex_);
    if (--opened_ == 0) ::mprotect(first_, used_, PROT_NONE);
  }

  std::mutex mutex_;
  char* first_;
  std::size_t used_ = 0;
  const int key_ = ::pkey_alloc(0, PKEY_DISABLE_ACCESS);  ///< negative: the processor has none
  static inline thread_local int opened_here = 0, threads_before = 1;
  int opened_ = 0;
  std::map<std::size_t, std::vector<char*>> free_;
  std::map<void*, std::size_t> sizes_;
};

class Allocator final : public c10::DeviceAllocator {
 public:
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.reserved_bytes[0].peak = static_cast<std::int64_t>(Memory::all().used());
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override {
    return {Memory::reserved - Memory::all().used(), Memory::reserved};
  }
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const memory = Memory::all().take(bytes);
    {
      const Memory::Open open;
      // Not a number: nobody may count on what lies there. What a graph will compute stands in for numbers
      // while it is made, and places among them have to be some.
      std::memset(memory, making() == nullptr ? 0xff : 0, bytes);
    }
    // Graphs work for good on what was taken for them.
    return {memory, memory, making() == nullptr ? raw_deleter() : [](void*) {},
            c10::Device(c10::kCUDA, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return [](void* memory) { Memory::all().give(memory); };
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    const Memory::Open open;
    default_copy_data(to, from, bytes);
  }
};
Allocator allocator;
REGISTER_ALLOCATOR(c10::kCUDA, &allocator)

/// What this thread has begun with other ranks, on a stream of its own.
thread_local std::vector<std::function<bool()>> under_way;
bool is_all_over() {
  std::erase_if(under_way, [](const std::function<bool()>& is_over) { return is_over(); });
  return under_way.empty();
}
void wait() {
  while (!is_all_over()) std::this_thread::yield();
}

/// Work is over when it is asked for, but for what other ranks have a share in.
using Clock = std::chrono::steady_clock;
class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::kCUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return {c10::kCUDA, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return named(stream); }
  c10::Stream getDefaultStream(c10::Device) const override { return named(0); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return named(streams++); }
  c10::Stream exchangeStream(c10::Stream next) const override {
    return named(std::exchange(stream, static_cast<std::size_t>(next.id())));
  }
  static c10::Stream named(std::size_t number) {
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::kCUDA, 0),
                       static_cast<c10::StreamId>(number));
  }
  void* getStreamNativeHandle(const c10::Stream) const override { return nullptr; }
  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    if (*event == nullptr) *event = new Clock::time_point;
    *static_cast<Clock::time_point*>(*event) = Clock::now();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<Clock::time_point*>(event);
  }
  double elapsedTime(void* from, void* to, c10::DeviceIndex) const override {
    return std::chrono::duration<double, std::milli>(*static_cast<Clock::time_point*>(to) -
                                                     *static_cast<Clock::time_point*>(from))
        .count();
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return is_all_over(); }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(c10::DeviceIndex) const override { wait(); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};
C10_REGISTER_GUARD_IMPL(CUDA, Guard)

at::Tensor empty(c10::IntArrayRef size, std::optional<c10::ScalarType> type,
                 std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>,
                 std::optional<c10::MemoryFormat> format) {
  return at::detail::empty_generic(size, &allocator, c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                   c10::dtype_or_default(type), format);
}
at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride,
                         std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                         std::optional<c10::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &allocator,
                                           c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                           c10::dtype_or_default(type));
}

/// The same numbers as a tensor of the CPU.
at::Tensor on_cpu(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  return at::from_blob(tensor.mutable_data_ptr(), tensor.sizes(), tensor.strides(),
                       at::TensorOptions(tensor.scalar_type()));
}
void refuse_in_graph(const std::string& what) {
  TORCH_CHECK(making() == nullptr, "operation not permitted when stream is capturing: ", what);
}
/// Nothing is kept of what runs here: a GPU would do it by itself.
struct Apart {
  std::vector<Work>* outer = std::exchange(making(), nullptr);
  Apart() = default;
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;
  ~Apart() { making() = outer; }
};
void copy_now(const at::Tensor& to, const at::Tensor& from) {
  const Memory::Open open;
  const at::NoGradGuard no_grad;
  on_cpu(to).copy_(on_cpu(from));
}

at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool) {
  if (to.is_cpu() || from.is_cpu()) refuse_in_graph("a copy between cpu and cuda");
  if (to.is_cpu()) ++reads;
  if (making() != nullptr)
    making()->push_back([to, from] { copy_now(to, from); });
  else
    copy_now(to, from);
  return to;
}
const at::Tensor& resize_tensor(const at::Tensor& tensor, c10::IntArrayRef size,
                                std::optional<c10::MemoryFormat>) {
  auto* const impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(size);
  const std::size_t bytes =
      (static_cast<std::size_t>(tensor.numel() + tensor.storage_offset())) * tensor.itemsize();
  c10::Storage storage = tensor.storage();
  if (storage.nbytes() < bytes) {
    c10::DataPtr larger = allocator.allocate(bytes);
    const Memory::Open open;
    std::memcpy(larger.get(), storage.data(), storage.nbytes());
    storage.set_data_ptr_noswap(std::move(larger));
    storage.set_nbytes(bytes);
  }
  return tensor;
}
at::Scalar read(const at::Tensor& tensor) {
  refuse_in_graph("a number is read");
  ++reads;
  const Memory::Open open;
  return at::native::_local_scalar_dense_cpu(on_cpu(tensor));
}

/// A GPU takes a single number of the CPU beside its own, and indices of it.
void refuse_mixed(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  static const std::set<std::string> moves_by_itself = {"aten::index", "aten::index_put_",
                                                        "aten::_index_put_impl_"};
  const std::string& name = op.schema().name();
  if (moves_by_itself.count(name) != 0) return;
  const auto check = [&](const at::Tensor& tensor) {
    if (tensor.defined() && tensor.is_cpu() && tensor.dim() > 0)
      TORCH_CHECK(false, name, ": expected all tensors to be on the same device, cuda and cpu");
  };
  const std::size_t arguments = op.schema().arguments().size();
  for (const c10::IValue& value : torch::jit::last(stack, arguments)) {
    if (value.isTensor()) check(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) check(tensor);
  }
}
at::Tensor to_gpu(const at::Tensor& numbers) {
  at::Tensor made =
      empty_strided(numbers.sizes(), numbers.strides(), numbers.scalar_type(), {}, {}, {});
  copy_now(made, numbers);
  return made;
}

/// An operation by LibTorch's on the CPU, which sees the memory of its arguments. What it gives: one of the arguments,
/// or tensors of their own.
/// twins: it works on copies of the arguments
std::vector<c10::IValue> run(const c10::OperatorHandle& op,
                             const std::vector<c10::IValue>& arguments, bool twins = false) {
  const Memory::Open open;
  std::map<const at::TensorImpl*, at::Tensor> originals;
  std::vector<at::Tensor> alive;  // LibTorch gives several outputs back behind their last reference
  const auto here = [&](const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    at::Tensor made = on_cpu(tensor);
    if (tensor.numel() == 0 && !tensor.is_cpu()) made = at::empty(tensor.sizes(), made.options());
    if (twins && !tensor.is_cpu()) made = made.clone();
    originals.emplace(made.unsafeGetTensorImpl(), tensor);
    alive.push_back(made);
    return made;
  };
  torch::jit::Stack stack;
  for (const c10::IValue& value : arguments) {
    if (value.isTensor()) {
      stack.emplace_back(here(value.toTensor()));
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(here(tensor));
      stack.emplace_back(list);
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
        list.push_back(tensor ? std::optional(here(*tensor)) : std::nullopt);
      stack.emplace_back(list);
    } else if (value.isDevice()) {
      stack.emplace_back(c10::Device(c10::kCPU));
    } else {
      stack.push_back(value);
    }
  }
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  const auto there = [&](const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    const auto original = originals.find(tensor.unsafeGetTensorImpl());
    if (original == originals.end()) return to_gpu(tensor);
    if (original->second.numel() == 0 && tensor.numel() > 0) {  // what goes into an empty tensor
      resize_tensor(original->second, tensor.sizes(), {});
      copy_now(original->second, tensor);
    }
    return original->second;
  };
  for (c10::IValue& value : stack) {
    if (value.isTensor()) {
      value = there(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(there(tensor));
      value = list;
    }
  }
  return stack;
}

/// Where a graph is being made nothing is computed: an operation gives tensors of the right form, found with copies
/// of its arguments, and each replay fills them.
std::vector<c10::IValue> kept(const c10::OperatorHandle& op,
                              const std::vector<c10::IValue>& arguments) {
  static const std::set<std::string> reads_sizes = {"aten::nonzero", "aten::masked_select",
                                                    "aten::_unique2", "aten::unique_dim"};
  if (reads_sizes.count(op.schema().name()) != 0) refuse_in_graph(op.schema().name());
  const Apart apart;
  std::vector<c10::IValue> outputs = run(op, arguments, /*twins=*/true);
  apart.outer->push_back([op, arguments, outputs] {
    const std::vector<c10::IValue> again = run(op, arguments);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].isTensor() && outputs[i].toTensor().defined() &&
          !outputs[i].toTensor().is_same(again[i].toTensor()))
        copy_now(outputs[i].toTensor(), again[i].toTensor());
      TORCH_CHECK(!outputs[i].isTensorList(), op.schema().name(), ": a list of tensors in a graph");
    }
  });
  return outputs;
}

void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  refuse_mixed(op, *stack);
  const auto arguments = torch::jit::pop(*stack, op.schema().arguments().size());
  for (c10::IValue& value : making() != nullptr ? kept(op, arguments) : run(op, arguments))
    stack->push_back(std::move(value));
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}
TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", TORCH_FN(empty));
  library.impl("empty_strided", TORCH_FN(empty_strided));
  library.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  library.impl("view", TORCH_FN(at::native::view));
  library.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  library.impl("copy_", TORCH_FN(copy));
  // What chooses among libraries by the device.
  for (const char* const name : {"convolution", "convolution_backward"})
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&fall_back>());
  library.impl("resize_", TORCH_FN(resize_tensor));
  library.impl("_local_scalar_dense", TORCH_FN(read));
}

}  // namespace

// ---- graphs, as sagips/cuda/interface.h has them

void fake_cuda_put(std::function<void()> kernel) {
  auto work = [kernel = std::move(kernel)] {
    const Memory::Open open;
    kernel();
  };
  if (making() != nullptr)
    making()->push_back(work);
  else
    work();
}
void fake_cuda_wait_for(std::function<bool()> is_over) { under_way.push_back(std::move(is_over)); }
int sagips_cuda_graph_begin(void** graph, const void*) {
  *graph = making() = new std::vector<Work>;
  return 0;
}
int sagips_cuda_graph_end(void*) { return making() = nullptr, 0; }
int sagips_cuda_graph_replay(void* graph) {
  const at::NoGradGuard no_grad;
  for (const Work& work : *static_cast<std::vector<Work>*>(graph)) work();
  return 0;
}
void sagips_cuda_graph_free(void* graph) { delete static_cast<std::vector<Work>*>(graph); }
const char* sagips_cuda_graph_error(void) { return ""; }

/// Lets everybody touch the device's memory from now on, as an MPI does that reaches GPUs.
extern "C" void fake_cuda_open() { Memory::all().open_for_good(); }
/// How often numbers were copied or read from the device.
extern "C" std::int64_t fake_cuda_reads() { return reads; }
/// No piece of memory may be larger from now on; negative: as at first.
extern "C" void fake_cuda_largest(std::int64_t bytes) {
  Memory::all().largest = bytes < 0 ? Memory::reserved : static_cast<std::size_t>(bytes);
}
