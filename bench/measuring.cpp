#include "bench/measuring.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::bench {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::string> comma_list(const std::string& text) {
  return text.empty() ? std::vector<std::string>{} : core::split(text, ',');
}

Options::Options(std::map<std::string, std::string> known, int argc, char** argv)
    : values_(std::move(known)) {
  for (int i = 1; i < argc; i += 2) {
    const std::string word = argv[i];
    const std::string name = word.rfind("--", 0) == 0 ? word.substr(2) : "";
    if (values_.count(name) == 0) {
      std::vector<std::string> names;
      for (const auto& value : values_) names.push_back("--" + value.first);
      throw core::Error(core::text("unknown option '", word, "'. Known: ", core::join(names, ", ")),
                        core::ExitCode::bad_input);
    }
    if (i + 1 >= argc)
      throw core::Error(core::text("option '", word, "' needs a value."),
                        core::ExitCode::bad_input);
    values_[name] = argv[i + 1];
  }
}

double Options::number(const std::string& name) const {
  double value = 0;
  if (!core::parse_number(text(name), value))
    throw core::Error(core::text("option '--", name, "': '", text(name), "' is no number."),
                      core::ExitCode::bad_input);
  return value;
}

void answer_turns(const std::function<void(int pieces)>& work,
                  const std::function<std::string()>& more) {
  for (std::string command; std::getline(std::cin, command);) {
    const int pieces = command.size() > 3 ? std::stoi(command.substr(3)) : 1;
    const auto start = std::chrono::steady_clock::now();
    work(pieces);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / pieces;
    std::printf("{\"seconds\": %.9f%s}\n", seconds, more ? more().c_str() : "");
    std::fflush(stdout);
  }
}

}  // namespace sagips::bench
