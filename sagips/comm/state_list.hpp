#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sagips::comm {

/// Numbers that let a resumed run go on, by name. Whole numbers up to 2^53 and floats fit.
using State = std::map<std::string, std::vector<double>>;

/// Walks the state of an exchange in one direction; each part of one lists its fields once, in `void
/// state(StateList&)`.
///
/// throws: StateError when there are no numbers of a name or not as many
class StateList {
 public:
  static StateList giving(State& into) { return {&into, nullptr}; }
  static StateList taking(const State& from) { return {nullptr, &from}; }

  void field(const std::string& name, std::vector<double>& numbers);
  void field(const std::string& name, std::span<float> numbers);
  void field(const std::string& name, std::uint64_t& number);
  /// What has a state of its own: its names get the prefix "name.".
  template <class Part>
  void part(const std::string& name, Part& value) {
    const std::string outer = prefix_;
    prefix_ += name + ".";
    value.state(*this);
    prefix_ = outer;
  }

  bool gives() const { return into_ != nullptr; }
  /// How many numbers of that name are to be taken; 0 where there are none.
  std::size_t count(const std::string& name) const;

 private:
  StateList(State* into, const State* from) : into_(into), from_(from) {}

  State* into_;
  const State* from_;
  std::string prefix_;
};

}  // namespace sagips::comm
