#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/report/gallery.hpp"
#include "sagips/analysis/report/run_contents.hpp"

namespace sagips::analysis::report {

/// A part of a page with a heading of its own. Without content it is left out.
struct Section {
  std::string id, title;
  std::string html;
};

/// What a reader wants to know first: what was found, whether it fits the data, whether it has
/// settled, and how the run ended.
std::string verdicts(const RunContents& run);

/// Which tables and pictures of a run a report shows. prefix: of ids and files, where there are
/// several runs
std::vector<Section> run_sections(const RunContents& run, Gallery& gallery,
                                  const std::string& prefix);

// The parts of the above.
Section parameter_section(const RunContents& run);
Section correlation_section(const RunContents& run, Gallery& gallery, const std::string& prefix);
Section study_section(const RunContents& run);
Section member_section(const RunContents& run);
Section timing_section(const RunContents& run);

/// Several runs side by side.
std::vector<Section> comparison_sections(const std::vector<RunContents>& runs, Gallery& gallery);

}  // namespace sagips::analysis::report
