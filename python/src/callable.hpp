#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

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

/// A Python function has raised: C++ sees this, and Python the function's own exception (see `raise`).
struct PythonError : core::Error {
  using core::Error::Error;
};

/// Calls `call`, which calls Python, with the interpreter held. What Python raises there is kept for `raise_kept`,
/// the first one where several threads do.
/// where: names the function, for messages. throws: PythonError
void with_interpreter(const std::string& where, const std::function<void()>& call);

/// Keeps what Python has raised in a backward pass. Called in a handler; the thread need not hold the interpreter.
void keep_raised();

/// Where Ctrl-C raises KeyboardInterrupt, it does so from now on at its second press; the first one is seen by
/// `interrupted`, so that no function is left half done and who asks stops where a state is whole. It is as before
/// at the end. Made and dropped by a thread that holds the interpreter; nothing on others than the main one.
class InterruptNotice {
 public:
  InterruptNotice();
  ~InterruptNotice();
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;

 private:
  nb::object before_;
};

/// Whether Ctrl-C was pressed, or a handler of a signal has raised, since `forget`. Called by a thread that does not
/// hold the interpreter; on the main one the handlers run here.
bool interrupted();
/// What was kept is raised, where there is something. The caller holds the interpreter.
void raise_kept();
/// The same where `interrupted` was true: what a handler raised, or KeyboardInterrupt; else false.
bool raise_interrupt();
/// The caller holds the interpreter.
void forget();

}  // namespace sagips::python
