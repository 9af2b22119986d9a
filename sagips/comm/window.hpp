#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sagips/comm/communicator.hpp"

namespace sagips::comm {

/// One-sided slots: each rank writes its own, everybody reads any, and nobody ever waits.
///
/// A slot holds floats and a stamp. What `get` gives is never half-written: on one node readers pin
/// the buffer that they look into and the writer takes another; from other nodes the buffer's version
/// is compared before and after the transfer. The target never has to help.
class Window {
 public:
  /// collective; the same `floats` on every rank
  Window(Communicator& communicator, std::size_t floats);
  ~Window();

  /// Writes the slot of this rank. False when readers hold every buffer: the old content stays.
  bool put(std::span<const float> values, std::uint64_t stamp);

  /// Raises the stamp of what this rank last put.
  void restamp(std::uint64_t stamp);

  /// What a slot holds; its values stay as they are while the view lives.
  class View {
   public:
    View() = default;
    View(View&& other) noexcept;
    View& operator=(View&& other) noexcept;
    ~View();
    std::uint64_t stamp() const { return stamp_; }  ///< 0: never written
    std::span<const float> values() const { return values_; }

   private:
    friend class Window;
    std::uint64_t stamp_ = 0;
    std::span<const float> values_;
    void* pin_ = nullptr;      ///< released when the view goes
    std::vector<float> copy_;  ///< of a slot on another node
  };
  View get(int rank);

 private:
  struct Header;
  Header* header(int rank) const;  ///< nullptr: on another node
  std::size_t buffer_bytes() const;
  std::size_t buffer_offset(std::uint64_t buffer) const;
  View pinned(int rank) const;
  View fetched(int rank) const;

  Communicator& communicator_;
  std::size_t floats_;
  std::unique_ptr<Memory> memory_;
  bool one_node_ = false;  ///< every reader pins
};

}  // namespace sagips::comm
