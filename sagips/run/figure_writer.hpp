#pragma once
#include <map>
#include <string>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::run {

/// Writes figures into a run folder. What is missing is told once, and a picture that cannot be drawn
/// never costs a run its results or other pictures.
class FigureWriter {
 public:
  FigureWriter(const record::RunDirectory& folder, const analysis::FigureConfig& config,
               core::Log& log);

  /// name: of the files; what no file should be called becomes '_', and a name that another figure has
  /// then gets a number
  /// The path of its PNG; empty where there is none.
  std::string operator()(const analysis::Figure& figure, std::string name);

 private:
  std::string folder_;
  const analysis::FigureConfig& config_;
  core::Log& log_;
  bool missing_ = false;
  std::map<std::string, std::string> figures_;  ///< by file name: what they were called
};

}  // namespace sagips::run
