#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <torch/types.h>

namespace sagips::nn {

/// Everything an object needs to go on later, by dotted name.
using State = std::map<std::string, torch::Tensor>;

/// Walks an object's state in one direction; an object lists its fields once, in `void
/// state(StateList&)`.
///
/// Taking copies into the existing storage, so views and pointers into it stay valid.
/// throws: StateError for a missing field or another shape or type
class StateList {
 public:
  static StateList giving(State& into);
  static StateList taking(const State& from);

  void field(const std::string& name, torch::Tensor& value);
  void field(const std::string& name, std::int64_t& value);
  void field(const std::string& name, double& value);
  void field(const std::string& name, std::vector<double>& value);
  void field(const std::string& name, std::string& value);

  /// A part with a state of its own: its fields get the prefix "name.".
  template <class Part>
  void part(const std::string& name, Part& value) {
    const std::string outer = prefix_;
    prefix_ += name + ".";
    value.state(*this);
    prefix_ = outer;
  }

  bool gives() const { return into_ != nullptr; }

  /// Names in `from` that no field asked for; empty while giving.
  std::vector<std::string> unclaimed() const;

 private:
  StateList(State* into, const State* from) : into_(into), from_(from) {}
  const torch::Tensor* next(const std::string& name);

  State* into_;
  const State* from_;
  std::string prefix_;
  std::vector<std::string> claimed_;
};

/// The complete state of one object, copied.
template <class T>
State give_state(T& object) {
  State state;
  auto list = StateList::giving(state);
  object.state(list);
  return state;
}

void refuse_unclaimed(const StateList& list);

/// Puts a state back. throws: StateError when a field is missing, misfits or is not known to the
/// object
template <class T>
void take_state(T& object, const State& state) {
  auto list = StateList::taking(state);
  object.state(list);
  refuse_unclaimed(list);
}

}  // namespace sagips::nn
