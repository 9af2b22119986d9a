#pragma once
#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "sagips/core/error.hpp"

namespace sagips::python {

namespace nb = nanobind;

/// A Python object that C++ may copy and drop on any thread, whether it holds the interpreter or not.
class Object {
 public:
  /// The caller holds the interpreter.
  explicit Object(nb::object object);
  nb::handle get() const { return *held_; }

 private:
  std::shared_ptr<nb::object> held_;
};

/// A Python function has raised. It carries what the function raised, for whoever called SAGIPS.
struct PythonError : core::Error {
  /// The caller holds the interpreter. where: names the function, for messages
  PythonError(const std::string& where, nb::python_error error);
  std::shared_ptr<nb::python_error> raised;
};

/// Calls `call`, which calls Python, with the interpreter held. throws: PythonError
/// where: names the function, for messages
void with_interpreter(const std::string& where, const std::function<void()>& call);

/// What C++ throws is raised in Python: what a function raised as it is, all else as python/sagips/errors.py has it.
/// The caller holds the interpreter.
void raise_in_python(const std::exception_ptr& failure);

/// Called in a handler: throws on what Python has raised, in a backward pass of PyTorch, too.
void pass_on_raised();

/// A call of SAGIPS that works, which one of its functions may call again. While the outermost one does, Ctrl-C raises
/// KeyboardInterrupt at its second press where it does so else; the first one is seen by `interrupted`, so that no
/// function is left half done and who asks stops where a state is whole. Made and dropped by a thread that holds the
/// interpreter. throws: core::Error where a call of another thread works
class CallScope {
 public:
  CallScope();
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  bool is_inner() const;

 private:
  nb::object before_;
};

/// Whether Ctrl-C was pressed, or a handler of a signal has raised, since the outermost call began. Called by a thread
/// that does not hold the interpreter. looks: on the main one the handlers run here, which takes time
bool interrupted(bool looks);
/// Raises what a handler has raised, or KeyboardInterrupt, where `interrupted` was true. The caller holds the
/// interpreter.
void raise_interrupt();

}  // namespace sagips::python
