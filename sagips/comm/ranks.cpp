#include "sagips/comm/ranks.hpp"

#include <algorithm>
#include <cstring>

namespace sagips::comm {

Ranks::Ranks(std::unique_ptr<Communicator> communicator)
    : owned_(std::move(communicator)),
      communicator_(owned_.get()),
      status_(*communicator_),
      timeout_(*communicator_, status_, {}) {}

Ranks::Ranks(Communicator& communicator)
    : communicator_(&communicator), status_(communicator), timeout_(communicator, status_, {}) {}

Site Ranks::site(std::size_t floats, std::uint64_t seed) {
  Site site;
  site.communicator = communicator_;
  site.timeout = &timeout_;
  site.floats = floats;
  site.seed = seed;
  site.next_tag = next_tag_;
  return site;
}

std::vector<std::uint64_t> Ranks::gather(std::uint64_t value) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  communicator_->all_gather(std::as_bytes(std::span(&value, 1)),
                            std::as_writable_bytes(std::span(all)));
  return all;
}

void Ranks::broadcast(std::vector<std::byte>& bytes) {
  constexpr std::size_t longest = std::size_t{1} << 28;  // MPI counts to 2^31
  const int tag = tag_of(ControlTag::broadcast);
  // A binomial tree: rank r hears from r without its lowest bit and tells r + 1, 2, 4, ... below it.
  const int lowest = rank() == 0 ? size() : rank() & -rank();
  const auto receive = [&](std::span<std::byte> into) {
    const int from = rank() - lowest;
    Request request = communicator_->receive(from, tag, into);
    timeout_.wait(request, {.partners = {from}, .what = "with its data", .however_long = true});
  };
  std::uint64_t length = bytes.size();
  if (rank() > 0) receive(std::as_writable_bytes(std::span(&length, 1)));
  bytes.resize(length);
  for (std::size_t first = 0; first < length && rank() > 0; first += longest)
    receive(std::span(bytes).subspan(first, std::min(longest, length - first)));
  int step = 1;
  while (2 * step < lowest) step *= 2;
  for (; step > 0; step /= 2) {
    const int to = rank() + step;
    if (step >= lowest || to >= size()) continue;
    const auto send = [&](std::span<const std::byte> part) {
      Request request = communicator_->send(to, tag, part);
      timeout_.wait(request, {.partners = {to}, .what = "for the data", .however_long = true});
    };
    send(std::as_bytes(std::span(&length, 1)));
    for (std::size_t first = 0; first < length; first += longest)
      send(std::span(std::as_const(bytes)).subspan(first, std::min(longest, length - first)));
  }
}

std::string Ranks::broadcast(const std::string& text) {
  const auto letters = std::as_bytes(std::span(text));
  std::vector<std::byte> bytes(letters.begin(), letters.end());
  broadcast(bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<int> Ranks::others_on_node() const {
  const std::vector<int>& nodes = communicator_->nodes();
  std::vector<int> others;
  for (int other = 0; other < size(); ++other)
    if (other != rank() &&
        nodes[static_cast<std::size_t>(other)] == nodes[static_cast<std::size_t>(rank())])
      others.push_back(other);
  return others;
}

bool Ranks::is_first_on_node() const {
  const std::vector<int> others = others_on_node();
  return others.empty() || rank() < others.front();
}

std::string Ranks::broadcast_on_node(const std::string& text) {
  const int tag = tag_of(ControlTag::node);
  const std::vector<int> others = others_on_node();
  std::uint64_t length = text.size();
  if (is_first_on_node()) {
    for (const int to : others)
      for (const auto message :
           {std::as_bytes(std::span(&length, 1)), std::as_bytes(std::span(text))}) {
        Request request = communicator_->send(to, tag, message);
        timeout_.wait(request, {.partners = {to}, .what = "for the data", .however_long = true});
      }
    return text;
  }
  const int from = others.front();
  const auto receive = [&](std::span<std::byte> into) {
    Request request = communicator_->receive(from, tag, into);
    timeout_.wait(request, {.partners = {from}, .what = "with its data", .however_long = true});
  };
  receive(bytes_of(length));
  std::string found(length, '\0');
  receive(std::as_writable_bytes(std::span(found)));
  return found;
}

void Ranks::settle_on_node() {
  const int tag = tag_of(ControlTag::node);
  const std::vector<int> others = others_on_node();
  std::byte sign{};
  const std::span<std::byte> message(&sign, 1);
  if (!is_first_on_node()) {
    Request request = communicator_->send(others.front(), tag, message);
    return timeout_.wait(
        request, {.partners = {others.front()}, .what = "with its data", .however_long = true});
  }
  for (const int from : others) {
    Request request = communicator_->receive(from, tag, message);
    timeout_.wait(request, {.partners = {from}, .what = "for the data", .however_long = true});
  }
}

}  // namespace sagips::comm
