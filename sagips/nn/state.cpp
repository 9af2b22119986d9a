#include "sagips/nn/state.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

using core::StateError;
using core::text;

StateList StateList::giving(State& into) { return {&into, nullptr}; }
StateList StateList::taking(const State& from) { return {nullptr, &from}; }

const torch::Tensor* StateList::next(const std::string& name) {
  const auto found = from_->find(prefix_ + name);
  if (found == from_->end())
    throw StateError(text("saved state lacks '", prefix_ + name,
                          "' (it was written by another version or for another network). Start "
                          "anew or use the version that wrote it."));
  claimed_.push_back(prefix_ + name);
  return &found->second;
}

void StateList::field(const std::string& name, torch::Tensor& value) {
  if (into_) {
    (*into_)[prefix_ + name] = value.detach().clone();
    return;
  }
  const torch::Tensor* saved = next(name);
  if (saved->sizes() != value.sizes() || saved->scalar_type() != value.scalar_type())
    throw StateError(text("saved state '", prefix_ + name, "' has shape ", saved->sizes(), " of ",
                          saved->dtype(), ", expected ", value.sizes(), " of ", value.dtype(),
                          " (another network or batch). Use the config it was written with."));
  torch::NoGradGuard no_grad;
  value.copy_(*saved);
}

void StateList::field(const std::string& name, std::int64_t& value) {
  torch::Tensor held = torch::full({}, value, torch::kInt64);
  field(name, held);
  value = held.item<std::int64_t>();
}

void StateList::field(const std::string& name, double& value) {
  torch::Tensor held = torch::full({}, value, torch::kFloat64);
  field(name, held);
  value = held.item<double>();
}

void StateList::field(const std::string& name, std::vector<double>& value) {
  if (into_) {
    (*into_)[prefix_ + name] = torch::tensor(value, torch::kFloat64);
    return;
  }
  const torch::Tensor saved = next(name)->contiguous();
  if (saved.dim() != 1 || saved.scalar_type() != torch::kFloat64)
    throw StateError(text("saved state '", prefix_ + name, "' has shape ", saved.sizes(), " of ",
                          saved.dtype(),
                          ", expected a list of double (written by another version). Use the "
                          "version that wrote it."));
  value.assign(saved.data_ptr<double>(), saved.data_ptr<double>() + saved.numel());
}

void StateList::field(const std::string& name, std::string& value) {
  if (into_) {
    torch::Tensor letters = torch::empty({static_cast<std::int64_t>(value.size())}, torch::kUInt8);
    std::copy(value.begin(), value.end(), letters.data_ptr<std::uint8_t>());
    (*into_)[prefix_ + name] = letters;
    return;
  }
  const torch::Tensor saved = next(name)->contiguous();
  if (saved.dim() != 1 || saved.scalar_type() != torch::kUInt8)
    throw StateError(
        text("saved state '", prefix_ + name, "' has shape ", saved.sizes(), " of ", saved.dtype(),
             ", expected a text (written by another version). Use the version that wrote it."));
  const auto* letters = saved.data_ptr<std::uint8_t>();
  value.assign(letters, letters + saved.numel());
}

std::vector<std::string> StateList::unclaimed() const {
  std::vector<std::string> left;
  if (!from_) return left;
  for (const auto& [name, value] : *from_)
    if (std::find(claimed_.begin(), claimed_.end(), name) == claimed_.end()) left.push_back(name);
  return left;
}

void refuse_unclaimed(const StateList& list) {
  const auto left = list.unclaimed();
  if (!left.empty())
    throw StateError(text("saved state holds '", left.front(),
                          "', which this run does not know (it was written for another config). "
                          "Use the config it was written with."));
}

}  // namespace sagips::nn
