#pragma once
#include <string>

std::size_t line_count(const std::string& text);

/// What a finished command left behind.
struct Outcome {
  int exit_code = -1;
  std::string out, err;

  int error_lines() const;  ///< lines of standard error
};

/// A scratch folder of one test, in which commands run and which goes with it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  static std::string file(const std::string& path);  ///< anywhere
  bool has(const std::string& name) const;
  /// Files and folders in the scratch folder, at any depth, that commands made.
  int entries() const;

  /// `sagips ARGUMENTS` in the scratch folder, through the shell; `prefix` goes before the program.
  Outcome sagips(const std::string& arguments, const std::string& prefix = "") const;
  /// Any program.
  Outcome run(const std::string& command) const;

 private:
  std::string path_;
};
