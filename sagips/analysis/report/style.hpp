#pragma once

namespace sagips::analysis::report {

/// The style sheet of every report (report/style.css).
extern const char* const style_sheet;

}  // namespace sagips::analysis::report
