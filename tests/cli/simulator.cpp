// A simulator of decay times that works or fails in the way its first argument names. Its process
// numbers go to the file `pids` in the current folder, so that a test can look for what is left.
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>

#include "sagips/core/npy.hpp"

namespace {

using sagips::core::NpyArray;

std::string folder, mode;

NpyArray load(const std::string& name) {
  return sagips::core::read_npy(folder + "/" + name + ".npy");
}

void save(const std::string& name, const std::vector<double>& values,
          const std::vector<std::size_t>& shape) {
  std::ofstream(folder + "/" + name + ".npy", std::ios::binary)
      << sagips::core::npy_bytes(values, shape);
}

void note_process(int number) { std::ofstream("pids", std::ios::app) << number << std::endl; }

// Fails before it answers, where the mode says so.
void misbehave() {
  if (mode == "hangs") {
    if (const int child = ::fork(); child == 0)
      for (;;) ::pause();
    else
      note_process(child);
    std::cerr << "waiting for a licence" << std::endl;
    for (;;) ::pause();
  }
  if (mode == "crashes") {
    std::cerr << "the detector is on fire" << std::endl;
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would catch it
    ::raise(SIGSEGV);
  }
  if (mode == "exits") std::exit(3);
  if (mode == "garbage") std::cout << "event 1 of 1000 generated" << std::endl;
  if (mode == "reports") {
    std::cout << "error the lifetime must be below 4" << std::endl;
  }
}

void events(std::size_t samples, std::size_t count) {
  const NpyArray lifetime = load("input"), noise = load("noise");
  std::vector<double> times(samples * count);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double tau = lifetime.values[i / count];
    times[i] = -tau * std::log(noise.values[i]);
    if (mode == "nan" || (mode == "nan_later" && tau > 4.76))
      times[i] = std::numeric_limits<double>::quiet_NaN();
  }
  if (mode == "wrong_shape")
    save("output", std::vector<double>(count), {count});
  else if (mode != "no_array")
    save("output", times, {samples, count, 1});
}

void gradient(std::size_t samples, std::size_t count) {
  const NpyArray noise = load("noise"), slope = load("slope");
  std::vector<double> sums(samples, 0.0);
  for (std::size_t i = 0; i < samples * count; ++i)
    sums[i / count] -= slope.values[i] * std::log(noise.values[i]);
  if (mode == "wrong_gradient")
    for (double& sum : sums) sum *= 1.1;
  save("gradient", sums, {samples, 1});
}

}  // namespace

int main(int, char** arguments) {
  mode = arguments[1];
  note_process(::getpid());
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb, number;
    words >> verb >> number;
    if (verb == "hello") {
      if (mode == "rude") {
        std::cout << "usage: simulator FILE" << std::endl;
        return 0;
      }
      std::getline(words >> std::ws, folder);
      std::cout << "hello 1" << std::endl;
      continue;
    }
    std::size_t samples = 0, count = 0;
    words >> samples >> count;
    misbehave();
    verb == "events" ? events(samples, count) : gradient(samples, count);
    std::cout << "done " << number << std::endl;
  }
}
