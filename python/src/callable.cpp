#include "python/src/callable.hpp"

#include <atomic>
#include <optional>
#include <thread>

#include <nanobind/stl/string.h>
#include <torch/csrc/Exceptions.h>

#include "sagips/core/text.hpp"
#include "sagips/nn/script.hpp"

namespace sagips::python {

namespace {

std::atomic<bool> is_interrupted = false;

// Of the calls that work. The interpreter is held.
int depth = 0;
std::thread::id caller;
bool is_told = false;  ///< the interruption is on its way to Python
std::optional<nb::python_error>& of_handler() {
  // It is never destroyed: the interpreter ends before the objects of a library do.
  static auto& exception = *new std::optional<nb::python_error>;
  return exception;
}

/// The interpreter, without what PyTorch leaves with a thread whose backward pass has raised.
struct Interpreter {
  nb::gil_scoped_acquire hold;
  Interpreter() { PyErr_Clear(); }
};

thread_local int functions = 0;  ///< of Python that SAGIPS has called and that work

std::string message_of(const std::string& where, const nb::python_error& error) {
  const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
  std::string text;
  try {
    text = nb::cast<std::string>(nb::str(error.value()));
  } catch (const std::exception&) {  // a text that cannot be made
  }
  return core::text(where, " raised ", type, ": ", text.substr(0, text.find('\n')));
}

nb::object error_type(const char* name) { return nb::module_::import_("sagips.errors").attr(name); }

core::ExitCode code_of(const nb::python_error& error) {
  return error.matches(error_type("ConfigError")) ? core::ExitCode::bad_input : core::ExitCode::failed;
}

}  // namespace

Object::Object(nb::object object)
    : held_(new nb::object(std::move(object)), [](nb::object* held) {
        if (Py_IsInitialized() == 0) return;  // at the end of the process the interpreter goes first
        const nb::gil_scoped_acquire hold;
        delete held;
      }) {}

PythonError::PythonError(const std::string& where, nb::python_error error)
    : core::Error(message_of(where, error), code_of(error)),
      raised(std::make_shared<nb::python_error>(std::move(error))) {}

void with_interpreter(const std::string& where, const std::function<void()>& call) {
  const Interpreter interpreter;
  const struct Function {
    Function() { ++functions; }
    ~Function() { --functions; }
  } one_more;
  try {
    call();
  } catch (nb::python_error& error) {
    if (depth > 0 && error.matches(PyExc_KeyboardInterrupt)) {  // which nobody may count as a failure
      is_interrupted = true;
      of_handler().emplace(error);
    }
    throw PythonError(where, std::move(error));
  }
}

void raise_in_python(const std::exception_ptr& failure) {
  const auto raise = [](const char* type, const std::exception& error) {
    PyErr_SetString(error_type(type).ptr(), nn::first_line(error).c_str());
  };
  try {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception&) {
      pass_on_raised();
      throw;
    }
  } catch (const PythonError& error) {
    nb::python_error(*error.raised).restore();
  } catch (const core::ConfigError& error) {
    raise("ConfigError", error);
  } catch (const core::DataError& error) {
    raise("DataError", error);
  } catch (const core::ShapeError& error) {
    raise("ShapeError", error);
  } catch (const core::StorageError& error) {
    raise("StorageError", error);
  } catch (const std::exception& error) {
    raise("Error", error);
  }
}

void pass_on_raised() {
  try {
    throw;
  } catch (const PythonError&) {
    throw;
  } catch (const ::python_error& error) {  // PyTorch's
    with_interpreter("a backward pass", [&] {
      Py_XINCREF(error.type);
      Py_XINCREF(error.value);
      Py_XINCREF(error.traceback);
      PyErr_Restore(error.type, error.value, error.traceback);
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
    });
  } catch (...) {  // none of Python's
  }
}

CallScope::CallScope() {
  if (depth > 0 && functions == 0 && caller != std::this_thread::get_id())
    throw core::Error("another thread is in a call of SAGIPS, which works for one at a time. Wait for it, or start a "
                      "process of its own.");
  if (++depth > 1) return;
  caller = std::this_thread::get_id();
  const nb::module_ signals = nb::module_::import_("signal"), threads = nb::module_::import_("threading");
  if (!threads.attr("current_thread")().is(threads.attr("main_thread")())) return;
  if (!signals.attr("getsignal")(signals.attr("SIGINT")).is(signals.attr("default_int_handler"))) return;
  before_ = signals.attr("signal")(signals.attr("SIGINT"), nb::cpp_function([](int, const nb::object&) {
                                     if (!is_interrupted.exchange(true) || is_told) return;
                                     PyErr_SetNone(PyExc_KeyboardInterrupt);
                                     throw nb::python_error();
                                   }));
}

CallScope::~CallScope() {
  if (is_inner()) {
    --depth;
    return;
  }
  PyErr_Clear();  // what PyTorch may have left
  if (before_) {
    const nb::module_ signals = nb::module_::import_("signal");
    signals.attr("signal")(signals.attr("SIGINT"), before_);
    if (is_interrupted && !is_told) PyErr_SetInterrupt();  // it came in between
  }
  --depth;
  is_interrupted = is_told = false;
  of_handler().reset();
}

bool CallScope::is_inner() const { return depth > 1; }

bool interrupted(bool looks) {
  if (is_interrupted || !looks) return is_interrupted;
  const Interpreter interpreter;
  if (PyErr_CheckSignals() == 0) return is_interrupted;
  of_handler().emplace();
  return is_interrupted = true;
}

void raise_interrupt() {
  if (!is_interrupted) return;
  is_told = depth == 1;
  if (of_handler()) throw nb::python_error(*of_handler());
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

}  // namespace sagips::python
