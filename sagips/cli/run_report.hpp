#pragma once
#include <string>

#include "sagips/core/log.hpp"

namespace sagips::cli {

/// Writes report.html into a run's folder and returns its path; a problem costs a warning, not the
/// run.
std::string write_run_report(const std::string& folder, core::Log& log);

/// The same, and says where it is.
void say_run_report(const std::string& folder, core::Log& log);

}  // namespace sagips::cli
