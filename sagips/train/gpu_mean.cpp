#include "sagips/train/gpu_mean.hpp"

#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/device_library.hpp"

namespace sagips::train {

namespace {

const std::string key = "exchanges.memory";

const c10::impl::DeviceGuardImplInterface& guard() {
  return *c10::impl::getDeviceGuardImpl(torch::kCUDA);
}

// Of nccl.h, whose calls and numbers have been these since its version 2.10.
struct UniqueId {
  char bytes[128];
};
constexpr int nccl_float = 7, nccl_average = 4, oldest_nccl = 21000;
struct NcclCalls {
  int (*GetVersion)(int* version);
  int (*GetUniqueId)(UniqueId*);
  int (*CommInitRank)(void** communicator, int ranks, UniqueId, int rank);
  int (*AllReduce)(const void* from, void* to, std::size_t count, int type, int operation,
                   void* communicator, void* stream);
  int (*CommGetAsyncError)(void* communicator, int* error);
  int (*CommDestroy)(void* communicator);
  const char* (*GetErrorString)(int error);
};

}  // namespace

struct GpuSums::Nccl {
  explicit Nccl(torch::Device device)
      : stream(guard().getStreamFromGlobalPool(device, /*high_priority=*/true)) {}
  NcclCalls calls{};
  void* communicator = nullptr;
  c10::Stream stream;

  /// Why NCCL cannot be had; empty: it is open.
  std::string open() {
    void* const library = nn::open_gpu_library("libnccl.so.2");
    if (library == nullptr) return ::dlerror();
    bool is_whole = true;
    const auto find = [&](auto& call, const char* name) {
      call = reinterpret_cast<std::decay_t<decltype(call)>>(::dlsym(library, name));
      is_whole = is_whole && call != nullptr;
    };
    find(calls.GetVersion, "ncclGetVersion");
    find(calls.GetUniqueId, "ncclGetUniqueId");
    find(calls.CommInitRank, "ncclCommInitRank");
    find(calls.AllReduce, "ncclAllReduce");
    find(calls.CommGetAsyncError, "ncclCommGetAsyncError");
    find(calls.CommDestroy, "ncclCommDestroy");
    find(calls.GetErrorString, "ncclGetErrorString");
    int version = 0;
    if (is_whole) calls.GetVersion(&version);
    return version >= oldest_nccl ? "" : "libnccl.so.2 is older than 2.10";
  }
  /// collective. Returns what it answers: 0, or an error.
  int join(comm::Ranks& ranks) {
    std::vector<std::byte> name(sizeof(UniqueId));
    UniqueId id{};
    const auto begun =
        ranks.gather(static_cast<std::uint64_t>(ranks.is_first() ? calls.GetUniqueId(&id) : 0));
    if (begun.front() != 0) return static_cast<int>(begun.front());
    std::memcpy(name.data(), &id, sizeof(id));
    ranks.broadcast(name);
    std::memcpy(&id, name.data(), sizeof(id));
    return calls.CommInitRank(&communicator, ranks.size(), id, ranks.rank());
  }
  void check(int answer) const {
    if (answer != 0)
      throw comm::CommError(core::text("NCCL: ", calls.GetErrorString(answer),
                                       ". NCCL_DEBUG=WARN says more; ", key, "=host avoids it."));
  }
  /// Becomes true on the stream behind the mean, in place.
  c10::Event begin_mean(std::span<float> numbers) {
    c10::Event computed(torch::kCUDA), over(torch::kCUDA);
    computed.record(guard().getStream(stream.device()));
    computed.block(stream);
    check(calls.AllReduce(numbers.data(), numbers.data(), numbers.size(), nccl_float, nccl_average,
                          communicator, guard().getStreamNativeHandle(stream)));
    over.record(stream);
    return over;
  }
  bool is_over(const c10::Event& event) const {
    int error = 0;
    check(calls.CommGetAsyncError(communicator, &error));
    check(error);
    return event.query();
  }
  void close() {
    if (void* const left = std::exchange(communicator, nullptr)) calls.CommDestroy(left);
  }
};

GpuSums::GpuSums(comm::Ranks& ranks, torch::Device device)
    : nccl_(std::make_unique<Nccl>(device)), device_(device) {
  const c10::DeviceGuard on_device(device);
  const auto on_all = [&ranks](bool here) {
    return std::ranges::all_of(ranks.gather(here ? 1 : 0), [](auto there) { return there != 0; });
  };
  const std::string lack = nccl_->open();
  if (on_all(lack.empty())) {
    const int answer = nccl_->join(ranks);
    if (on_all(answer == 0)) return;
    throw core::ConfigError(
        key, core::text("gpu: NCCL does not take the ranks' GPUs (",
                        answer != 0 ? nccl_->calls.GetErrorString(answer) : "on another rank",
                        "; each rank needs one of its own). Set it to host."));
  }
  nccl_ = nullptr;
  if (!on_all(ranks.communicator().reaches_gpus()))
    throw core::ConfigError(
        key, core::text("gpu: NCCL is not here (", lack.empty() ? "on another rank" : lack,
                        "), and MPI does not say that it reaches GPUs. Set it to host."));
}

GpuSums::~GpuSums() = default;

void GpuSums::close() {
  if (nccl_) nccl_->close();
}

// NCCL connects ranks in its first call of a size, which waits for all of them: here all come.
GpuMean::GpuMean(const comm::Site& site, std::shared_ptr<GpuSums> sums)
    : site_(site), sums_(std::move(sums)) {
  GpuSums::Nccl* const nccl = sums_->nccl_.get();
  if (nccl == nullptr) return;
  const torch::Tensor numbers = torch::zeros({static_cast<std::int64_t>(site.floats)},
                                             torch::dtype(torch::kFloat32).device(sums_->device_));
  const c10::Event event = nccl->begin_mean({numbers.data_ptr<float>(), site.floats});
  while (!nccl->is_over(event)) site.communicator->pause(1);
}

comm::Task GpuMean::gradients(comm::ReplicaView replica, comm::Step step) {
  *site_.traffic += cost(replica.gradients.size(), step);
  if (GpuSums::Nccl* const nccl = sums_->nccl_.get()) {
    const c10::Event event = nccl->begin_mean(replica.gradients);
    co_await comm::Until([&] { return nccl->is_over(event); });
    co_return;
  }
  const torch::Tensor gradients = torch::from_blob(
      replica.gradients.data(), {static_cast<std::int64_t>(replica.gradients.size())},
      torch::dtype(torch::kFloat32).device(sums_->device_));
  own_ = gradients.clone();
  nn::wait_for(sums_->device_);
  site_.communicator->all_reduce_on_gpus({own_.const_data_ptr<float>(), replica.gradients.size()},
                                         replica.gradients);
  gradients.div_(site_.communicator->size());
}

std::string GpuMean::description() const {
  return core::text(sums_->nccl_ ? "NCCL" : "MPI", " over the GPUs of ", site_.communicator->size(),
                    " ranks");
}

}  // namespace sagips::train
