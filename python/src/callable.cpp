#include "python/src/callable.hpp"

#include <atomic>
#include <mutex>
#include <optional>

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

}  // namespace

Object::Object(nb::object object)
    : held_(new nb::object(std::move(object)), [](nb::object* held) {
        if (Py_IsInitialized() == 0) return;  // at the end of the process the interpreter goes first
        const nb::gil_scoped_acquire hold;
        delete held;
      }) {}

void with_interpreter(const std::string& where, const std::function<void()>& call) {
  const nb::gil_scoped_acquire hold;
  for (;;) try {
      call();
      return;
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_KeyboardInterrupt) && !is_interrupted.exchange(true)) {
        keep(error);
        continue;
      }
      const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
      std::string text;
      try {
        text = nb::cast<std::string>(nb::str(error.value()));
      } catch (const std::exception&) {  // a text that cannot be made
      }
      keep(error);
      throw PythonError(
          core::text(where, " raised ", type, ": ", text.substr(0, text.find('\n'))));
    }
}

bool interrupted() {
  if (is_interrupted) return true;
  const nb::gil_scoped_acquire hold;
  if (PyErr_CheckSignals() == 0) return false;
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
  if (is_interrupted) raise_kept();
  return false;
}

void forget() {
  const std::lock_guard lock(kept_mutex);
  kept().reset();
  is_interrupted = false;
}

}  // namespace sagips::python
