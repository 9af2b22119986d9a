#include "sagips/cli/study/ensemble_results.hpp"

namespace sagips::cli {

bool write_ensemble(const Job& job, const std::string& folder, const record::Study& study,
                    core::Log& log) {
  (void)job, (void)folder, (void)study, (void)log;
  return true;
}

}  // namespace sagips::cli
