#pragma once
#include <string>
#include <utility>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// Draws into `folder`/figures/; a warning in the log where that cannot be done, since a picture
/// never costs a study its results. Returns the picture's path, empty: none.
std::string draw_figure(const analysis::Figure& figure, const analysis::FigureConfig& config,
                        const std::string& folder, const std::string& name, core::Log& log);

/// Pictures of a study; the first that cannot be drawn is told, and no other one tried.
class Pictures {
 public:
  Pictures(const run::Job& job, std::string folder, core::Log& log)
      : folder_(std::move(folder)),
        config_(job.settings.figures),
        log_(log),
        on_(job.settings.run.figures) {}

  void draw(const analysis::Figure& figure, const std::string& name);
  /// Where they are; empty without any.
  std::string place() const;

 private:
  std::string folder_;
  const analysis::FigureConfig& config_;
  core::Log& log_;
  bool on_, drawn_ = false;
};

}  // namespace sagips::study
