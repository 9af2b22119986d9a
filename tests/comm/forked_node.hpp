#pragma once
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "sagips/comm/communicator.hpp"

namespace sagips::comm::testing {

/// One rank of a node whose ranks are processes made with fork: memory and nothing else.
class ForkedRank final : public Communicator {
 public:
  static constexpr std::size_t bytes_per_rank = 1 << 16;

  ForkedRank(std::byte* memory, int rank, int size) : Communicator(rank, size), memory_(memory) {
    nodes_.assign(static_cast<std::size_t>(size), 0);
  }
  /// Once only: all share the one mapping.
  std::unique_ptr<Memory> share(std::size_t bytes) override {
    if (bytes > bytes_per_rank) std::abort();
    return std::make_unique<Mapping>(memory_);
  }
  Request send(int, int, std::span<const std::byte>) override { std::abort(); }
  Request receive(int, int, std::span<std::byte>) override { std::abort(); }
  Request all_reduce(std::span<const float>, std::span<float>) override { std::abort(); }
  void all_gather(std::span<const std::byte>, std::span<std::byte>) override { std::abort(); }
  void abort(int exit_code) override { _exit(exit_code); }
  std::string description() const override { return "processes"; }

 private:
  class Mapping final : public Memory {
   public:
    explicit Mapping(std::byte* memory) : memory_(memory) {}
    std::byte* block(int rank) override {
      return memory_ + static_cast<std::size_t>(rank) * bytes_per_rank;
    }
    void fetch(int, std::size_t, std::span<std::byte>) override { std::abort(); }
    void store(std::size_t, std::span<const std::byte>) override { std::abort(); }
    void publish() override {}

   private:
    std::byte* memory_;
  };
  bool test(std::uint64_t) override { std::abort(); }
  void forget(std::uint64_t) noexcept override {}

  std::byte* memory_;
};

/// A node of two: the test is rank 0, a child of it rank 1.
class ForkedNode {
 public:
  ForkedNode() {
    void* mapped = mmap(nullptr, 2 * ForkedRank::bytes_per_rank, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::runtime_error("no memory to share");
    memory_ = static_cast<std::byte*>(mapped);
  }
  ~ForkedNode() {
    bury();
    munmap(memory_, 2 * ForkedRank::bytes_per_rank);
  }
  ForkedNode(const ForkedNode&) = delete;
  ForkedNode& operator=(const ForkedNode&) = delete;

  /// Runs `body` as rank 1 in a process of its own, which ends with it; waits until it has ended,
  /// but leaves it a zombie, as a launcher that has not looked yet.
  template <class Body>
  void run_child(Body body) {
    child_ = fork();
    if (child_ == 0) {
      ForkedRank rank(memory_, 1, 2);
      body(rank);
      _exit(0);
    }
    siginfo_t information;
    waitid(P_PID, static_cast<id_t>(child_), &information, WEXITED | WNOWAIT);
  }
  /// Asks for the child's end, so that nothing is left of it.
  void bury() {
    if (child_ > 0) waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  pid_t child() const { return child_; }
  std::byte* memory() const { return memory_; }

 private:
  std::byte* memory_ = nullptr;
  pid_t child_ = -1;
};

}  // namespace sagips::comm::testing
