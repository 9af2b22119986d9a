#include "python/src/callable.hpp"

#include <atomic>
#include <mutex>
#include <optional>

#include <torch/csrc/Exceptions.h>

#include "sagips/core/text.hpp"

namespace sagips::python {

namespace {

// Of a process there is one interpreter, and one call of SAGIPS at a time that waits for exceptions.
std::mutex kept_mutex;
std::optional<nb::python_error>& kept() {
  // Never destroyed: the interpreter ends before the objects of a library do.
  static auto& exception = *new std::optional<nb::python_error>;
  return exception;
}
std::atomic<bool> is_interrupted = false;

// The interpreter is held.
void keep(nb::python_error& error) {
  const std::lock_guard lock(kept_mutex);
  if (!kept()) kept().emplace(std::move(error));
}

/// The interpreter, without what PyTorch leaves with a thread whose backward pass has raised.
struct Interpreter {
  nb::gil_scoped_acquire hold;
  Interpreter() { PyErr_Clear(); }
};

}  // namespace

Object::Object(nb::object object)
    : held_(new nb::object(std::move(object)), [](nb::object* held) {
        if (Py_IsInitialized() == 0) return;  // at the end of the process the interpreter goes first
        const nb::gil_scoped_acquire hold;
        delete held;
      }) {}

void with_interpreter(const std::string& where, const std::function<void()>& call) {
  const Interpreter interpreter;
  try {
    call();
  } catch (nb::python_error& error) {
    const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
    std::string text;
    try {
      text = nb::cast<std::string>(nb::str(error.value()));
    } catch (const std::exception&) {  // a text that cannot be made
    }
    keep(error);
    throw PythonError(core::text(where, " raised ", type, ": ", text.substr(0, text.find('\n'))));
  }
}

void keep_raised() {
  try {
    throw;
  } catch (const ::python_error& error) {  // PyTorch's
    const Interpreter interpreter;
    Py_XINCREF(error.type);
    Py_XINCREF(error.value);
    Py_XINCREF(error.traceback);
    PyErr_Restore(error.type, error.value, error.traceback);
    if (PyErr_Occurred() == nullptr) return;
    nb::python_error raised;
    keep(raised);
  } catch (...) {  // none of Python's
  }
}

InterruptNotice::InterruptNotice() {
  const nb::module_ signals = nb::module_::import_("signal"), threads = nb::module_::import_("threading");
  if (!threads.attr("current_thread")().is(threads.attr("main_thread")())) return;
  if (!signals.attr("getsignal")(signals.attr("SIGINT")).is(signals.attr("default_int_handler"))) return;
  before_ = signals.attr("signal")(signals.attr("SIGINT"), nb::cpp_function([](int, const nb::object&) {
                                     if (!is_interrupted.exchange(true)) return;
                                     PyErr_SetNone(PyExc_KeyboardInterrupt);
                                     throw nb::python_error();
                                   }));
}

InterruptNotice::~InterruptNotice() {
  if (!before_) return;
  const nb::error_scope raised;  // what is raised goes on
  const nb::module_ signals = nb::module_::import_("signal");
  const bool is_seen = is_interrupted;
  signals.attr("signal")(signals.attr("SIGINT"), before_);
  if (is_interrupted && !is_seen) PyErr_SetInterrupt();  // it came in between
}

bool interrupted() {
  if (is_interrupted) return true;
  const Interpreter interpreter;
  if (PyErr_CheckSignals() == 0) return is_interrupted;
  nb::python_error error;
  keep(error);
  return is_interrupted = true;
}

void raise_kept() {
  std::optional<nb::python_error> error;
  {
    const std::lock_guard lock(kept_mutex);
    if (kept()) error.emplace(std::move(*kept()));
    kept().reset();
  }
  is_interrupted = false;
  if (!error) return;
  error->restore();
  throw nb::python_error();
}

bool raise_interrupt() {
  if (!is_interrupted) return false;
  raise_kept();
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

void forget() {
  const std::lock_guard lock(kept_mutex);
  kept().reset();
  is_interrupted = false;
  PyErr_Clear();
}

}  // namespace sagips::python
