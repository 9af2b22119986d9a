#include "sagips/cli/run_identity.hpp"

#include <vector>

#include "sagips/core/text.hpp"

namespace sagips::cli {

record::RunIdentity run_identity(const Job& job, const std::string& command) {
  const problem::DataSettings& data = job.settings.data;
  std::vector<std::string> prints;
  const auto add = [&prints](const std::string& group, const std::string& file) {
    if (!file.empty()) prints.push_back(core::text(group, ".file ", record::file_print(file)));
  };
  add("data", data.data.file);
  for (const auto& [name, channel] : data.channels)
    if (channel.enabled) add("channels." + name, channel.data.file);
  return {job.settings.workload, command, job.effective_config, core::join(prints, ", ")};
}

}  // namespace sagips::cli
