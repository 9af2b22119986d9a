#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "sagips/comm/communicator.hpp"

namespace sagips::study {

/// A rank among others that are not there: exchanges are made on it to hear what they say of themselves or
/// refuse. Nothing is sent, what is received stays as it was, and all of a node see this rank's memory.
class IdleCommunicator final : public comm::Communicator {
 public:
  IdleCommunicator(std::int64_t rank, std::int64_t size, std::int64_t ranks_per_node);
  comm::Request send(int, int, std::span<const std::byte>) override { return {}; }
  comm::Request receive(int, int, std::span<std::byte>) override { return {}; }
  comm::Request all_reduce(std::span<const float>, std::span<float>) override { return {}; }
  void all_gather(std::span<const std::byte>, std::span<std::byte>) override {}
  std::unique_ptr<comm::Memory> share(std::size_t bytes) override;
  void abort(int) override { throw core::Error("a rank that does nothing cannot fail."); }
  std::string description() const override { return "nothing"; }
  /// Whether memory was asked for.
  bool shares() const { return shares_; }

 private:
  bool test(std::uint64_t) override { return true; }
  void forget(std::uint64_t) noexcept override {}

  bool shares_ = false;
};

}  // namespace sagips::study
