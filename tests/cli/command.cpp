#include "tests/cli/command.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fs = std::filesystem;

namespace {

std::string whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

int Outcome::error_lines() const { return static_cast<int>(line_count(err)); }

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "sagips-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
  fs::create_directory(path_ + ".logs");
}

Scratch::~Scratch() {
  fs::remove_all(path_);
  fs::remove_all(path_ + ".logs");
}

void Scratch::write(const std::string& name, const std::string& content) const {
  std::ofstream(path_ + "/" + name, std::ios::binary) << content;
}

std::string Scratch::file(const std::string& path) { return whole(path); }

std::string Scratch::read(const std::string& name) const { return whole(path_ + "/" + name); }

bool Scratch::has(const std::string& name) const { return fs::exists(path_ + "/" + name); }

int Scratch::entries() const {
  return static_cast<int>(std::distance(fs::recursive_directory_iterator(path_), {}));
}

Outcome Scratch::sagips(const std::string& arguments, const std::string& prefix) const {
  return run(prefix + " " SAGIPS_PROGRAM " " + arguments);
}

Outcome Scratch::run(const std::string& command) const {
  const std::string out = path_ + ".logs/out", err = path_ + ".logs/err";
  const std::string line = "cd " + path_ + " && " + command + " </dev/null >" + out + " 2>" + err;
  const int status = std::system(line.c_str());
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = whole(out);
  outcome.err = whole(err);
  return outcome;
}
