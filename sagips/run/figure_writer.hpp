#pragma once
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <string>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::run {

/// Writes figures into a run folder, some side by side. What is missing is told once, and a picture
/// that cannot be drawn never costs a run its results or other pictures.
class FigureWriter {
 public:
  FigureWriter(const record::RunDirectory& folder, const analysis::FigureConfig& config,
               core::Log& log);

  /// Begins a figure.
  /// name: of the files; what no file should be called becomes '_', and a name that another figure has
  /// then gets a number
  void operator()(analysis::Figure figure, std::string name);
  /// Waits for all of them. Returns the path of the first one's PNG; empty where there is none.
  std::string finish();

 private:
  /// A figure that is being drawn.
  struct Drawing {
    std::string name;
    std::future<std::string> problem;  ///< why there can be no figures; empty: it is there
  };
  void wait_for_oldest();

  std::string folder_;
  const analysis::FigureConfig& config_;
  core::Log& log_;
  bool missing_ = false;
  std::optional<std::string> first_;            ///< what `finish` returns
  std::map<std::string, std::string> figures_;  ///< by file name: what they were called
  std::deque<Drawing> under_way_;  ///< the last member: it uses the others until it is done
};

}  // namespace sagips::run
