#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sagips/comm/task.hpp"
#include "sagips/core/error.hpp"

namespace sagips::comm {

/// A rank or the message layer failed; says which rank and what it was asked for.
class CommError : public core::Error {
 public:
  using core::Error::Error;
};

/// Nanoseconds of a clock that all ranks of a node share.
std::int64_t now_ns();

class Communicator;

/// A message on its way. Its buffer must stay until it is ready. Move-only.
class Request final : public Condition {
 public:
  Request() = default;  ///< ready at once
  Request(Communicator& owner, std::uint64_t handle) : owner_(&owner), handle_(handle) {}
  Request(Request&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), handle_(other.handle_) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Request() override;
  bool ready() override;

 private:
  Communicator* owner_ = nullptr;  ///< none: done
  std::uint64_t handle_ = 0;
};

/// Memory of which every rank owns one block of the same size, zeroed at first and readable by all.
/// Who reads while the owner writes needs a protocol of its own (`Window` has one).
class Memory {
 public:
  virtual ~Memory() = default;
  /// A rank's block, aligned to a cache line; nullptr when that rank is on another node.
  virtual std::byte* block(int rank) = 0;
  /// Copies from any rank's block without its help; complete when it returns.
  virtual void fetch(int rank, std::size_t offset, std::span<std::byte> into) = 0;
  /// Writes into this rank's own block; a `fetch` at the same time sees old or new words.
  virtual void store(std::size_t offset, std::span<const std::byte> values) = 0;
  /// Makes what this rank wrote by other means visible to `fetch`.
  virtual void publish() = 0;
};

/// One rank's end of a group of ranks that run the same program.
///
/// Everything moves inside calls of its own rank: there is no helper thread. Messages between two
/// ranks with one tag arrive in the order in which they were sent.
/// throws: CommError
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The node of each rank, numbered from 0 in the order of their lowest ranks.
  const std::vector<int>& nodes() const { return nodes_; }
  int ranks_on_node() const;
  /// More ranks than processors here: who waits must give way.
  bool oversubscribed() const { return oversubscribed_; }

  virtual Request send(int to, int tag, std::span<const std::byte> message) = 0;
  virtual Request receive(int from, int tag, std::span<std::byte> message) = 0;
  /// The library's own sum over all ranks. collective; not in place
  virtual Request all_reduce(std::span<const float> values, std::span<float> sum) = 0;
  /// Whether the library takes memory of GPUs, which the sum behind it is of; that returns when it is done, since
  /// Open MPI has no other of GPUs (its FAQ on CUDA).
  virtual bool reaches_gpus() const { return false; }
  virtual void all_reduce_on_gpus(std::span<const float> values, std::span<float> sum);
  /// Every rank's `mine` one after another in `all`. collective, returns when it is done
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// collective; the same size on every rank
  virtual std::unique_ptr<Memory> share(std::size_t bytes) = 0;
  /// The ranks that give the same colour, in the order they have here; messages inside a part and
  /// outside of it never meet. collective
  /// Parts that span nodes must share none: Open MPI 4 gives files of their windows the same name
  /// (open-mpi/ompi issue 9492). throws: CommError where it cannot be had
  virtual std::unique_ptr<Communicator> split(int colour);
  /// Memory that is shared here and in its parts goes with this communicator from now on, not by itself: to
  /// free it takes all ranks, and who fails is not waited for.
  virtual void keep_memory() {}
  /// Some rank has failed, so that what was kept stays when this communicator goes.
  virtual void leave_memory() {}
  /// The clock of the ranks: `comm::now_ns`, or that of simulated ones.
  virtual std::int64_t now_ns() const { return comm::now_ns(); }
  /// Between two looks at what is waited for; `look` counts from 1.
  virtual void pause(std::int64_t look);
  /// The next pause is of a wait that ends by the clock, whatever comes. Simulated ranks must be told.
  virtual void wake_at(std::int64_t /*time_ns*/) {}
  /// The same in waits that last: leaves the processor to others.
  virtual void rest();
  /// This rank has added up, or read from memory that its node shares, so many bytes of others. Takes
  /// simulated ranks time.
  virtual void touched(std::size_t) {}
  /// Ends all ranks of the job with this exit code, now.
  [[noreturn]] virtual void abort(int exit_code) = 0;
  /// Ends this process alone, without telling the others, whose launcher is about to end them, too.
  [[noreturn]] static void abort_alone(int exit_code);
  /// "MPI (Open MPI 4.1.4)", "threads"
  virtual std::string description() const = 0;

 protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  std::vector<int> nodes_;
  bool oversubscribed_ = false;

 private:
  friend class Request;
  virtual bool test(std::uint64_t handle) = 0;  ///< true once; the handle is gone then
  virtual void forget(std::uint64_t handle) noexcept = 0;

  int rank_, size_;
};

/// A communicator of one, for a program that is alone.
std::unique_ptr<Communicator> make_single_communicator();

inline std::span<const std::byte> as_message(std::span<const float> values) {
  return std::as_bytes(values);
}
inline std::span<std::byte> as_message(std::span<float> values) {
  return std::as_writable_bytes(values);
}

/// Numbers nodes from 0 in the order of their lowest ranks; `lowest[r]` is the lowest rank on r's
/// node.
std::vector<int> number_nodes(const std::vector<int>& lowest);

}  // namespace sagips::comm
