#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

/// What the benchmarks have in common.
namespace sagips::bench {

/// As the machine names it.
std::string processor();

double median(std::vector<double> values);

/// "a,b,c" as a list; an empty text is an empty list.
std::vector<std::string> comma_list(const std::string& text);

/// The options of a program, "--name value" each.
class Options {
 public:
  /// `known`: every option with its default value.
  /// throws: core::Error for one that is unknown or lacks its value
  Options(std::map<std::string, std::string> known, int argc, char** argv);

  const std::string& text(const std::string& name) const { return values_.at(name); }
  /// throws: core::Error when it is no number
  double number(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

/// Answers lines "go K" of standard input, as the scripts that let programs take turns write them: does K
/// pieces of work and prints a line of JSON, {"seconds": mean time of one}, with what `more` adds.
void answer_turns(const std::function<void(int pieces)>& work,
                  const std::function<std::string()>& more = {});

}  // namespace sagips::bench
