#include "sagips/comm/state_list.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

std::size_t StateList::count(const std::string& name) const {
  const auto found = from_->find(prefix_ + name);
  return found == from_->end() ? 0 : found->second.size();
}

void StateList::field(const std::string& name, std::vector<double>& numbers) {
  if (gives()) {
    (*into_)[prefix_ + name] = numbers;
    return;
  }
  const auto found = from_->find(prefix_ + name);
  if (found == from_->end() || found->second.size() != numbers.size())
    throw core::StateError(
        core::text("the state of the exchange is missing '", prefix_ + name, "'."));
  numbers = found->second;
}

void StateList::field(const std::string& name, std::span<float> numbers) {
  std::vector<double> wide(numbers.begin(), numbers.end());
  field(name, wide);
  std::transform(wide.begin(), wide.end(), numbers.begin(),
                 [](double value) { return static_cast<float>(value); });
}

void StateList::field(const std::string& name, std::uint64_t& number) {
  std::vector<double> wide{static_cast<double>(number)};
  field(name, wide);
  number = static_cast<std::uint64_t>(wide.front());
}

}  // namespace sagips::comm
