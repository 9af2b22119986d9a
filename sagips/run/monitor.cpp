#include "sagips/run/monitor.hpp"

#include <dlfcn.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <vector>

#include "sagips/core/text.hpp"

namespace sagips::run {

namespace {

constexpr auto period = std::chrono::milliseconds(500);

double status_mb(const std::string& line) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == line && file >> kib) return kib * 1024 / 1e6;
  }
  return 0;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double processor_s() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of all network devices but loopback, since the machine was started [MB].
struct NetworkTraffic {
  double received_mb = 0, sent_mb = 0;
};

// A line is "  eth0: bytes packets errs drop fifo frame compressed multicast bytes ...".
NetworkTraffic network_traffic() {
  NetworkTraffic traffic;
  std::ifstream file("/proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || core::trim(line.substr(0, colon)) == "lo") continue;
    std::istringstream numbers(line.substr(colon + 1));
    std::array<double, 9> columns{};
    for (double& column : columns) numbers >> column;
    traffic.received_mb += columns[0] / 1e6;
    traffic.sent_mb += columns[8] / 1e6;
  }
  return traffic;
}

}  // namespace

double resident_mb() { return status_mb("VmRSS:"); }
double peak_resident_mb() { return status_mb("VmHWM:"); }

// source: "NVML API Reference Guide", NVIDIA: types and names of what is asked here
class Gpus {
 public:
  struct Use {
    double percent = 0, memory_mb = 0;  ///< the mean; of all together
  };

  /// Null where there is none.
  static std::unique_ptr<Gpus> of_this_machine() {
    std::unique_ptr<Gpus> gpus(new Gpus);
    return gpus->devices_.empty() ? nullptr : std::move(gpus);
  }
  ~Gpus() {
    if (end_ != nullptr) end_();
    if (library_ != nullptr) ::dlclose(library_);
  }
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;

  Use use() const {
    Use use;
    for (void* const device : devices_) {
      std::array<unsigned int, 2> percent{};      // nvmlUtilization_t: gpu, memory
      std::array<unsigned long long, 3> bytes{};  // nvmlMemory_t: total, free, used
      if (utilization_(device, percent.data()) == 0)
        use.percent += percent[0] / static_cast<double>(devices_.size());
      if (memory_(device, bytes.data()) == 0) use.memory_mb += static_cast<double>(bytes[2]) / 1e6;
    }
    return use;
  }

 private:
  using Call = int (*)();
  using Count = int (*)(unsigned int*);
  using Handle = int (*)(unsigned int, void**);
  using Utilization = int (*)(void*, unsigned int*);
  using Memory = int (*)(void*, unsigned long long*);

  Gpus() : library_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    const auto begin = function<Call>("nvmlInit_v2");
    const auto count = function<Count>("nvmlDeviceGetCount_v2");
    const auto handle = function<Handle>("nvmlDeviceGetHandleByIndex_v2");
    const auto end = function<Call>("nvmlShutdown");
    utilization_ = function<Utilization>("nvmlDeviceGetUtilizationRates");
    memory_ = function<Memory>("nvmlDeviceGetMemoryInfo");
    if (!is_whole_ || begin() != 0) return;
    end_ = end;
    unsigned int number = 0;
    if (count(&number) != 0) return;
    for (unsigned int i = 0; i < number; ++i)
      if (void* device = nullptr; handle(i, &device) == 0) devices_.push_back(device);
  }
  template <class Function>
  Function function(const char* name) {
    void* const found = library_ != nullptr ? ::dlsym(library_, name) : nullptr;
    is_whole_ = is_whole_ && found != nullptr;
    return reinterpret_cast<Function>(found);
  }

  void* library_;
  bool is_whole_ = true;
  Call end_ = nullptr;
  Utilization utilization_ = nullptr;
  Memory memory_ = nullptr;
  std::vector<void*> devices_;
};

Monitor::Monitor() : gpus_(Gpus::of_this_machine()) {
  if (!gpus_) problem_ = "monitor: no GPU is shown (libnvidia-ml.so.1 finds none, or is not there)";
  start_ = last_ = look();
  thread_ = std::thread([this] { watch(); });
}

Monitor::~Monitor() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

void Monitor::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, period, [this] { return ended_; })) look();
}

const Monitor::Totals& Monitor::look() {
  const NetworkTraffic traffic = network_traffic();
  totals_.time_s = now_s();
  totals_.processor_s = processor_s();
  totals_.received_mb = traffic.received_mb;
  totals_.sent_mb = traffic.sent_mb;
  ++totals_.looks;
  totals_.memory_mb += resident_mb();
  if (!gpus_) return totals_;
  const Gpus::Use use = gpus_->use();
  totals_.gpu_percent += use.percent;
  totals_.gpu_memory_mb += use.memory_mb;
  return totals_;
}

record::MachineUse Monitor::between(const Totals& before, const Totals& now) const {
  const double time_s = now.time_s - before.time_s, looks = now.looks - before.looks;
  record::MachineUse use;
  use.cores = (now.processor_s - before.processor_s) / time_s;
  use.received_mb_per_s = (now.received_mb - before.received_mb) / time_s;
  use.sent_mb_per_s = (now.sent_mb - before.sent_mb) / time_s;
  use.memory_mb = (now.memory_mb - before.memory_mb) / looks;
  if (!gpus_) return use;
  use.gpu_percent = (now.gpu_percent - before.gpu_percent) / looks;
  use.gpu_memory_mb = (now.gpu_memory_mb - before.gpu_memory_mb) / looks;
  return use;
}

record::MachineUse Monitor::since_last(std::int64_t epoch) {
  const std::lock_guard lock(mutex_);
  const Totals& now = look();
  record::MachineUse use = between(last_, now);
  use.epoch = epoch;
  last_ = now;
  return use;
}

record::MachineUse Monitor::since_start() {
  const std::lock_guard lock(mutex_);
  return between(start_, look());
}

}  // namespace sagips::run
