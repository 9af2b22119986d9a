#include "sagips/comm/window.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

constexpr std::uint64_t buffers = 6;  // latest, being written, and some that readers hold

// The newest content in one word: number of the writing, and buffer.
std::uint64_t pack(std::uint64_t version, std::uint64_t buffer) { return version << 8 | buffer; }
std::uint64_t buffer_of(std::uint64_t latest) { return latest & 0xff; }

}  // namespace

// Zeroed memory is a window that was never written.
struct alignas(64) Window::Header {
  std::atomic<std::uint64_t> latest;
  std::array<std::atomic<std::uint64_t>, buffers>
      content;  ///< latest word of each; 0: being written
  std::array<std::atomic<std::uint64_t>, buffers> stamps;
  std::array<std::atomic<std::int32_t>, buffers> pins;
};

Window::View::View(View&& other) noexcept { *this = std::move(other); }

Window::View& Window::View::operator=(View&& other) noexcept {
  std::swap(stamp_, other.stamp_);
  std::swap(values_, other.values_);
  std::swap(pin_, other.pin_);
  std::swap(copy_, other.copy_);
  return *this;
}

Window::View::~View() {
  if (pin_ != nullptr) static_cast<std::atomic<std::int32_t>*>(pin_)->fetch_sub(1);
}

Window::Window(Communicator& communicator, std::size_t floats)
    : communicator_(communicator), floats_(floats) {
  memory_ = communicator.share(sizeof(Header) + buffers * buffer_bytes());
  one_node_ = communicator.ranks_on_node() == communicator.size();
}

Window::~Window() = default;

// Whole cache lines.
std::size_t Window::buffer_bytes() const { return (floats_ * sizeof(float) + 63) / 64 * 64; }

std::size_t Window::buffer_offset(std::uint64_t buffer) const {
  return sizeof(Header) + buffer * buffer_bytes();
}

Window::Header* Window::header(int rank) const {
  return reinterpret_cast<Header*>(memory_->block(rank));
}

bool Window::put(std::span<const float> values, std::uint64_t stamp) {
  if (values.size() > floats_)
    throw core::Error(core::text("an array of ", values.size(),
                                 " floats does not fit into a window of ", floats_, "."));
  Header& own = *header(communicator_.rank());
  const std::uint64_t latest = own.latest;
  // The next one in turn: readers on other nodes pin nothing and need time before it is rewritten.
  // Where all readers pin, the lowest free one: it is more likely in this core's cache.
  for (std::uint64_t k = 0; k < buffers; ++k) {
    const std::uint64_t buffer = one_node_ ? k : (buffer_of(latest) + 1 + k) % buffers;
    if (own.pins[buffer] != 0 || (latest != 0 && buffer == buffer_of(latest))) continue;
    own.content[buffer] = 0;
    memory_->store(buffer_offset(buffer), std::as_bytes(values));
    const std::uint64_t next = pack((latest >> 8) + 1, buffer);
    own.stamps[buffer] = stamp;
    own.content[buffer] = next;
    own.latest = next;
    memory_->publish();
    return true;
  }
  return false;
}

void Window::restamp(std::uint64_t stamp) {
  Header& own = *header(communicator_.rank());
  own.stamps[buffer_of(own.latest)] = stamp;
  memory_->publish();
}

Window::View Window::get(int rank) {
  return header(rank) != nullptr ? pinned(rank) : fetched(rank);
}

Window::View Window::pinned(int rank) const {
  Header& there = *header(rank);
  for (;;) {
    const std::uint64_t latest = there.latest;
    if (latest == 0) return {};
    const std::uint64_t buffer = buffer_of(latest);
    there.pins[buffer].fetch_add(1);
    // Still the latest after the pin: the writer has not chosen it, and will not while it is pinned.
    if (there.latest == latest) {
      View view;
      view.stamp_ = there.stamps[buffer];
      view.values_ = {reinterpret_cast<const float*>(memory_->block(rank) + buffer_offset(buffer)),
                      floats_};
      view.pin_ = &there.pins[buffer];
      communicator_.touched(view.values_.size_bytes());
      return view;
    }
    there.pins[buffer].fetch_sub(1);
  }
}

Window::View Window::fetched(int rank) const {
  struct Copy {
    std::uint64_t latest;
    std::array<std::uint64_t, buffers> content, stamps;
  };
  static_assert(sizeof(Copy) <= sizeof(Header));
  const auto read = [&] {
    Copy copy;
    memory_->fetch(rank, 0, std::as_writable_bytes(std::span(&copy, 1)));
    return copy;
  };
  constexpr int attempts = 100;  // the writer is faster than the network each time: give up
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const Copy before = read();
    if (before.latest == 0) return {};
    const std::uint64_t buffer = buffer_of(before.latest);
    View view;
    view.copy_.resize(floats_);
    memory_->fetch(rank, buffer_offset(buffer), std::as_writable_bytes(std::span(view.copy_)));
    const Copy after = read();
    if (after.content[buffer] != before.latest) continue;
    if (after.stamps[buffer] != before.stamps[buffer]) continue;  // words come in any order
    view.stamp_ = before.stamps[buffer];
    view.values_ = view.copy_;
    return view;
  }
  return {};
}

}  // namespace sagips::comm
