#include "sagips/comm/mpi_communicator.hpp"

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "sagips/core/processors.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

// This source is built twice: with the MPI library of the machine, and with SimGrid's for ranks of a
// simulated cluster, which run in one process.
#ifdef SAGIPS_SIMULATED
constexpr bool simulated = true;
#else
constexpr bool simulated = false;
#endif

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> buffer{};
  int length = 0;
  MPI_Error_string(code, buffer.data(), &length);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

/// throws: CommError that names the call
void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw CommError(core::text(call, " failed: ", error_text(code), "."));
}

int count(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw CommError(
        core::text("a message of ", bytes, " bytes is longer than MPI can count (2 GB)."));
  return static_cast<int>(bytes);
}

/// MPI itself: started once, ended unless an exception is on its way.
class Library {
 public:
  Library() {
    has_begun = true;
    int is_over = 0, provided = 0;
    MPI_Finalized(&is_over);
    if (is_over != 0)
      throw CommError(
          "MPI has ended in this process and cannot begin again. Do this in a process of its own.");
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~Library() {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  inline static bool has_begun = false;
};

}  // namespace
#ifdef __SANITIZE_ADDRESS__
// MPI libraries keep what they allocate, in plug-ins that are gone when leaks are looked for. What
// leaks in ranks of ours is seen in the tests that run them as threads.
extern "C" int __lsan_is_turned_off() { return Library::has_begun ? 1 : 0; }
#endif
namespace {

/// An owned communicator, or the one of all ranks.
class Comm {
 public:
  static Comm world() {
    Comm made;
    made.comm_ = MPI_COMM_WORLD;
    return made;
  }
  /// collective
  Comm split(int colour) const {
    Comm made;
    check(MPI_Comm_split(comm_, colour, rank(), &made.comm_), "MPI_Comm_split");
    MPI_Comm_set_errhandler(made.comm_, MPI_ERRORS_RETURN);
    return made;
  }
  /// The ranks that can map each other's memory. collective
  Comm of_node(int pretended_size) const {
    if (pretended_size > 0) return split(rank() / pretended_size);
    Comm made;
    check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made.comm_),
          "MPI_Comm_split_type");
    MPI_Comm_set_errhandler(made.comm_, MPI_ERRORS_RETURN);
    return made;
  }
  Comm(Comm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  ~Comm() {
    if (comm_ != MPI_COMM_NULL && comm_ != MPI_COMM_WORLD && std::uncaught_exceptions() == 0)
      MPI_Comm_free(&comm_);
  }
  MPI_Comm get() const { return comm_; }
  int rank() const {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    return rank;
  }
  int size() const {
    int size = 1;
    MPI_Comm_size(comm_, &size);
    return size;
  }

 private:
  Comm() = default;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// An owned window. Freed collectively, so never while an exception is on its way.
class Win {
 public:
  Win() = default;
  Win(Win&& other) noexcept
      : win_(std::exchange(other.win_, MPI_WIN_NULL)), locked_(other.locked_) {}
  ~Win() {
    if (win_ == MPI_WIN_NULL || std::uncaught_exceptions() > 0) return;
    if (simulated) return;  // takes SimGrid minutes for thousands of ranks, and they end together
    if (locked_) MPI_Win_unlock_all(win_);
    MPI_Win_free(&win_);
  }
  void leave() { win_ = MPI_WIN_NULL; }
  MPI_Win* address() { return &win_; }
  MPI_Win get() const { return win_; }
  void lock_all() {
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, win_), "MPI_Win_lock_all");
    locked_ = true;
  }

 private:
  MPI_Win win_ = MPI_WIN_NULL;
  bool locked_ = false;
};

constexpr std::size_t page = 4096, cache_line = 64;

// Room for blocks that begin with a cache line, wherever MPI places them.
std::size_t rounded(std::size_t bytes) { return (bytes + cache_line + page - 1) / page * page; }

// MPI promises the alignment of a number only; Open MPI keeps notes of its own before the first
// block. Mappings begin with pages, so every process that maps a block finds the same line.
std::byte* first_line(void* memory) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(memory) % cache_line;
  return static_cast<std::byte*>(memory) + (cache_line - beyond) % cache_line;
}

/// Windows whose memory is no longer used here, by the number of their making. All ranks free them in that order.
struct KeptWindows {
  struct Both {
    Win shared, remote;  // in this order: the memory is freed last
  };
  std::map<std::uint64_t, Both> windows;
  std::uint64_t made = 0;
};

/// Window memory. Where ranks share a node their blocks are mapped; the others are reached through
/// MPI_Get, for which Open MPI's target need not help with these kinds of windows.
class MpiMemory final : public Memory {
 public:
  /// `node`: who can be mapped, empty for nobody; `place[r]`: rank r's place in it, -1: elsewhere.
  /// kept: takes the windows at the end; none: they are freed then
  MpiMemory(const Comm& all, const Comm* node, const std::vector<int>& place, int rank,
            std::size_t bytes, std::shared_ptr<KeptWindows> kept)
      : kept_(std::move(kept)),
        number_(kept_ ? kept_->made++ : 0),
        size_(static_cast<MPI_Aint>(rounded(bytes))),
        blocks_(place.size(), nullptr),
        starts_(place.size(), 0) {
    void* own = nullptr;
    const MPI_Aint size = size_;
    if (node == nullptr && simulated) {
      // Kept as long as the window, which is not freed; telling the starts would take time.
      own = std::aligned_alloc(cache_line, static_cast<std::size_t>(size));
      create_remote(all, own);
    } else if (node == nullptr) {
      check(MPI_Win_allocate(size, 1, MPI_INFO_NULL, all.get(), &own, remote_.address()),
            "MPI_Win_allocate");
      const MPI_Aint start = first_line(own) - static_cast<std::byte*>(own);
      check(MPI_Allgather(&start, 1, MPI_AINT, starts_.data(), 1, MPI_AINT, all.get()),
            "MPI_Allgather");
    } else {
      check(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, node->get(), &own, shared_.address()),
            "MPI_Win_allocate_shared");
      shared_.lock_all();
      bool everybody = true;
      for (std::size_t r = 0; r < place.size(); ++r) {
        everybody = everybody && place[r] >= 0;
        if (place[r] >= 0) blocks_[r] = first_line(query(place[r]));
      }
      if (!everybody) create_remote(all, first_line(own));
    }
    if (remote_.get() != MPI_WIN_NULL) remote_.lock_all();
    std::memset(own, 0, static_cast<std::size_t>(size));
    own_ = first_line(own);
    blocks_[static_cast<std::size_t>(rank)] = own_;
    publish();
    check(MPI_Barrier(all.get()), "MPI_Barrier");  // nobody reads before all blocks are zero
  }

  ~MpiMemory() override {
    if (kept_)
      kept_->windows.emplace(number_, KeptWindows::Both{std::move(shared_), std::move(remote_)});
  }

  std::byte* block(int rank) override { return blocks_[static_cast<std::size_t>(rank)]; }

  void fetch(int rank, std::size_t offset, std::span<std::byte> into) override {
    const MPI_Aint place = starts_[static_cast<std::size_t>(rank)] + static_cast<MPI_Aint>(offset);
    check(MPI_Get(into.data(), count(into.size()), MPI_BYTE, rank, place, count(into.size()),
                  MPI_BYTE, remote_.get()),
          "MPI_Get");
    check(MPI_Win_flush(rank, remote_.get()), "MPI_Win_flush");
  }

  void store(std::size_t offset, std::span<const std::byte> values) override {
    std::memcpy(own_ + offset, values.data(), values.size());
    publish();
  }
  void publish() override {
    if (simulated) return;  // one process: whatever is written is seen
    if (remote_.get() != MPI_WIN_NULL) MPI_Win_sync(remote_.get());
    if (shared_.get() != MPI_WIN_NULL) MPI_Win_sync(shared_.get());
  }

 private:
  void create_remote(const Comm& all, void* own) {
    check(MPI_Win_create(own, size_ - static_cast<MPI_Aint>(cache_line), 1, MPI_INFO_NULL,
                         all.get(), remote_.address()),
          "MPI_Win_create");
  }
  std::byte* query(int place) const {
    MPI_Aint size = 0;
    int unit = 0;
    void* base = nullptr;
    check(MPI_Win_shared_query(shared_.get(), place, &size, &unit, &base), "MPI_Win_shared_query");
    // SimGrid 3.32 gives the first block, whoever is asked for; the others follow it
    return static_cast<std::byte*>(base) + (simulated ? place * size_ : 0);
  }

  std::shared_ptr<KeptWindows> kept_;
  std::uint64_t number_;
  MPI_Aint size_;  ///< of a block
  std::byte* own_ = nullptr;
  std::vector<std::byte*> blocks_;
  std::vector<MPI_Aint> starts_;  ///< of the blocks in `remote_`
  Win shared_;
  Win remote_;  // declared last: freed before the memory it shows
};

/// Messages on their way, by handle.
class Requests {
 public:
  std::uint64_t add(MPI_Request request) {
    if (free_.empty()) {
      free_.push_back(requests_.size());
      requests_.push_back(MPI_REQUEST_NULL);
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    requests_[place] = request;
    return place;
  }
  bool test(std::uint64_t handle) {
    int done = requests_[handle] == MPI_REQUEST_NULL ? 1 : 0;
    if (done == 0) check(MPI_Test(&requests_[handle], &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) {
      if (simulated) unready_.insert(handle);
      return false;
    }
    if (simulated) unready_.erase(handle);
    free_.push_back(handle);
    return true;
  }
  void forget(std::uint64_t handle) noexcept {
    MPI_Cancel(&requests_[handle]);
    MPI_Request_free(&requests_[handle]);
    unready_.erase(handle);
    free_.push_back(handle);
  }
  /// Until one of those is ready that were not when they were last asked for. False when none was
  /// asked for.
  bool wait_for_any() {
    if (unready_.empty()) return false;
    const std::vector<std::size_t> places(unready_.begin(), unready_.end());
    std::vector<MPI_Request> waiting;
    for (const std::size_t place : places) waiting.push_back(requests_[place]);
    int ready = 0;
    check(MPI_Waitany(static_cast<int>(waiting.size()), waiting.data(), &ready, MPI_STATUS_IGNORE),
          "MPI_Waitany");
    if (ready != MPI_UNDEFINED)
      requests_[places[static_cast<std::size_t>(ready)]] = MPI_REQUEST_NULL;  // tests as done
    unready_.clear();
    return true;
  }

 private:
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> free_;
  std::set<std::size_t> unready_;  ///< asked for since the last wait
};

class MpiCommunicator final : public Communicator {
 public:
  /// library: ended by the last communicator that goes
  MpiCommunicator(std::shared_ptr<Library> library, Comm all, const MpiConfig& config)
      : Communicator(all.rank(), all.size()),
        library_(std::move(library)),
        all_(std::move(all)),
        node_(all_.of_node(config.pretended_node_size)),
        config_(config) {
    int lowest = rank();
    check(MPI_Bcast(&lowest, 1, MPI_INT, 0, node_.get()), "MPI_Bcast");
    std::vector<int> lowest_ranks(static_cast<std::size_t>(size()));
    check(MPI_Allgather(&lowest, 1, MPI_INT, lowest_ranks.data(), 1, MPI_INT, all_.get()),
          "MPI_Allgather");
    if (config_.windows == SharedWindows::avoid)  // nobody's memory is mapped: every rank is a node
      for (std::size_t r = 0; r < lowest_ranks.size(); ++r) lowest_ranks[r] = static_cast<int>(r);
    nodes_ = number_nodes(lowest_ranks);
    int next = 0;
    for (const int one : lowest_ranks) place_.push_back(one == lowest ? next++ : -1);
    if (!simulated) share_processors();
  }

  Request send(int to, int tag, std::span<const std::byte> message) override {
    MPI_Request request;
    check(MPI_Isend(message.data(), count(message.size()), MPI_BYTE, to, tag, all_.get(), &request),
          "MPI_Isend");
    return {*this, requests_.add(request)};
  }
  Request receive(int from, int tag, std::span<std::byte> message) override {
    MPI_Request request;
    check(
        MPI_Irecv(message.data(), count(message.size()), MPI_BYTE, from, tag, all_.get(), &request),
        "MPI_Irecv");
    return {*this, requests_.add(request)};
  }
  Request all_reduce(std::span<const float> values, std::span<float> sum) override {
    if (simulated) {  // SimGrid 3.32 aborts in MPI_Iallreduce on some hundred ranks
      check(MPI_Allreduce(values.data(), sum.data(), count(values.size()), MPI_FLOAT, MPI_SUM,
                          all_.get()),
            "MPI_Allreduce");
      return {};
    }
    MPI_Request request;
    check(MPI_Iallreduce(values.data(), sum.data(), count(values.size()), MPI_FLOAT, MPI_SUM,
                         all_.get(), &request),
          "MPI_Iallreduce");
    return {*this, requests_.add(request)};
  }
  bool reaches_gpus() const override {
#ifdef OMPI_HAVE_MPI_EXT_CUDA
    return MPIX_Query_cuda_support() != 0;
#else
    const char* const cray = std::getenv("MPICH_GPU_SUPPORT_ENABLED");
    return cray != nullptr && std::string_view(cray) == "1";
#endif
  }
  void all_reduce_on_gpus(std::span<const float> values, std::span<float> sum) override {
    check(MPI_Allreduce(values.data(), sum.data(), count(values.size()), MPI_FLOAT, MPI_SUM,
                        all_.get()),
          "MPI_Allreduce");
  }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    check(MPI_Allgather(mine.data(), count(mine.size()), MPI_BYTE, all.data(), count(mine.size()),
                        MPI_BYTE, all_.get()),
          "MPI_Allgather");
  }
  std::unique_ptr<Memory> share(std::size_t bytes) override {
    const bool map = config_.windows == SharedWindows::use;
    return std::make_unique<MpiMemory>(all_, map ? &node_ : nullptr, place_, rank(), bytes, kept_);
  }
  std::unique_ptr<Communicator> split(int colour) override {
    auto part = std::make_unique<MpiCommunicator>(library_, all_.split(colour), config_);
    part->oversubscribed_ =
        part->oversubscribed_ || oversubscribed_;  // the other parts use the processors, too
    part->kept_ = kept_;
    return part;
  }
  void keep_memory() override { kept_ = std::make_shared<KeptWindows>(); }
  void leave_memory() override {
    if (!kept_) return;
    for (auto& [number, both] : kept_->windows) {
      both.remote.leave();
      both.shared.leave();
    }
  }
  std::int64_t now_ns() const override {
    return simulated ? static_cast<std::int64_t>(MPI_Wtime() * 1e9) : Communicator::now_ns();
  }
  // Simulated time goes on only while a rank waits for it.
  void pause(std::int64_t look) override {
    if (!simulated) return Communicator::pause(look);
    constexpr double step_s = 5e-8;
    if (const std::int64_t wake_ns = std::exchange(wake_ns_, 0); wake_ns != 0) {
      constexpr double looks = 32;  // in what is left of the time
      return config_.simulated.spend(
          std::max(static_cast<double>(wake_ns - now_ns()) * 1e-9 / looks, 10 * step_s));
    }
    if (!requests_.wait_for_any())  // something in memory: looks come further and further apart
      config_.simulated.spend(step_s * (1 + static_cast<double>(look) / 16));
  }
  void wake_at(std::int64_t time_ns) override { wake_ns_ = time_ns; }
  void rest() override {
    if (!simulated) return Communicator::rest();
    if (!requests_.wait_for_any()) config_.simulated.spend(1e-5);
  }
  void touched(std::size_t bytes) override {
    if (simulated && config_.simulated.memory_bandwidth > 0)
      config_.simulated.spend(static_cast<double>(bytes) / config_.simulated.memory_bandwidth);
  }
  void abort(int exit_code) override {
    if (simulated) std::_Exit(exit_code);  // all ranks are this process
    // MPICH's launcher drops what it has not read yet, and that may be why the job ends.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }
  std::string description() const override {
    if (simulated) return "simulated ranks (SimGrid)";
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> buffer{};
    int length = 0;
    MPI_Get_library_version(buffer.data(), &length);
    const std::string version(buffer.data(), static_cast<std::size_t>(length));
    return "MPI: " + version.substr(0, version.find_first_of(",\n"));
  }

 private:
  bool test(std::uint64_t handle) override { return requests_.test(handle); }
  void forget(std::uint64_t handle) noexcept override { requests_.forget(handle); }

  // More ranks on this node than processors that any of them may use.
  void share_processors() {
    const cpu_set_t mine = core::allowed_processors();
    cpu_set_t all;
    check(MPI_Allreduce(&mine, &all, sizeof(all), MPI_BYTE, MPI_BOR, node_.get()), "MPI_Allreduce");
    oversubscribed_ = ranks_on_node() > CPU_COUNT(&all);
  }

  std::shared_ptr<Library> library_;  // declared first: ended after the communicators below it
  Comm all_, node_;
  Requests requests_;
  std::shared_ptr<KeptWindows> kept_;  ///< none: windows are freed one by one
  std::vector<int> place_;             ///< of each rank on this node, -1: elsewhere
  MpiConfig config_;
  std::int64_t wake_ns_ = 0;  ///< of a simulated pause; 0: when a message has come
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(const MpiConfig& config) {
  static std::weak_ptr<Library> running;  // in a process of Python the program finds it begun
  std::shared_ptr<Library> library = running.lock();
  if (!library || simulated) library = std::make_shared<Library>();
  if (!simulated) running = library;
  return std::make_unique<MpiCommunicator>(std::move(library), Comm::world(), config);
}

}  // namespace sagips::comm
