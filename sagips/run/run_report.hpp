#pragma once
#include <string>

#include "sagips/core/log.hpp"

namespace sagips::run {

/// Writes report.html into a run's folder and returns its path; a problem costs a warning, not the
/// run.
std::string write_run_report(const std::string& folder, core::Log& log);

}  // namespace sagips::run
