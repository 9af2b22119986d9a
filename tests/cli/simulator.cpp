// A simulator of decay times that works or fails in the way its first argument names. Its process
// numbers go to the file `pids` in the current folder, so that a test can look for what is left.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>

#include "sagips/core/hash.hpp"
#include "sagips/core/npy.hpp"

namespace {

using sagips::core::NpyArray;

std::string folder, mode;
bool in_dry_run = false;

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
  if (mode == "slow" && !in_dry_run) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (mode == "garbage") std::cout << "event 1 of 1000 generated" << std::endl;
  if (mode == "reports") {
    std::cout << "error the lifetime must be below 4" << std::endl;
  }
}

// One event in a hundred thousand.
std::vector<double> with_rare_nan(std::vector<double> times) {
  static std::size_t made = 0;
  for (double& time : times)
    if (++made % 100'000 == 0) time = std::numeric_limits<double>::quiet_NaN();
  return times;
}

// A detector that sees times below 3 alone, told in one of the ways that there are; or told wrongly.
void lose(const std::vector<double>& times, std::size_t samples, std::size_t count) {
  std::vector<double> values = times, mask(times.size()), counts(samples, 0.0), rows(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    mask[i] = times[i] < 3 ? 1 : 0;
    if (mode == "loses_nan" && mask[i] == 0) values[i] = std::numeric_limits<double>::quiet_NaN();
    if (mask[i] == 1)
      rows[i / count * count + static_cast<std::size_t>(counts[i / count]++)] = times[i];
  }
  if (mode == "loses_counts" || mode == "loses_wrong_counts") {
    for (double& number : counts)
      if (mode == "loses_wrong_counts") number += 0.5;
    save("output", rows, {samples, count, 1});
    save("counts", counts, {samples});
    return;
  }
  save("output", values, {samples, count, 1});
  if (mode == "loses_mask") save("mask", mask, {samples, count});
  if (mode == "loses_wrong_mask")
    save("mask", std::vector<double>(times.size(), 2), {samples, count});
  if (mode == "loses_short_mask") save("mask", counts, {samples});
  if (mode == "loses_weights") save("weights", mask, {samples, count});
  if (mode == "loses_wrong_weights")
    save("weights", std::vector<double>(times.size(), -1), {samples, count});
}

// Who has answered what goes to the file `requests`: a line a request, its input and noise as a number.
void note_request(std::size_t samples, std::size_t count) {
  std::uint64_t hash = 0;
  for (const char* name : {"input", "noise"})
    for (const double value : load(name).values)
      hash = sagips::core::fnv1a({reinterpret_cast<const char*>(&value), sizeof value}, hash + 1);
  std::ostringstream line;
  line << ::getpid() << ' ' << samples << ' ' << count << ' ' << hash << '\n';
  std::ofstream("requests", std::ios::app) << line.str() << std::flush;
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
  else if (mode == "flat")
    save("output", times, {samples, count});
  else if (mode == "swapped")
    save("output", times, {samples, 1, count});
  else if (mode == "short")
    save("output", std::vector<double>(samples * (count - 1)), {samples, count - 1, 1});
  else if (mode == "long")
    save("output", std::vector<double>(samples * (count + 1)), {samples, count + 1, 1});
  else if (mode == "huge")
    save("output", std::vector<double>(samples * count, 1e300), {samples, count, 1});
  else if (mode == "empty_file")
    std::ofstream(folder + "/output.npy");
  else if (mode == "half_file")
    std::ofstream(folder + "/output.npy")
        << sagips::core::npy_bytes(times, {samples, count, 1}).substr(0, 200);
  else if (mode == "text_file")
    std::ofstream(folder + "/output.npy") << "1.0 2.0 3.0\n";
  else if (mode == "folder")
    std::filesystem::create_directory(folder + "/output.npy");
  else if (mode == "rare_nan")
    save("output", with_rare_nan(times), {samples, count, 1});
  else if (mode.rfind("loses", 0) == 0)
    lose(times, samples, count);
  else if (mode != "no_array")
    save("output", times, {samples, count, 1});
  note_request(samples, count);
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
    in_dry_run = count == 40;
    misbehave();
    verb == "events" ? events(samples, count) : gradient(samples, count);
    std::cout << "done " << number << std::endl;
  }
}
