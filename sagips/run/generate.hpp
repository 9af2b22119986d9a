#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// Toy events of one channel in a file.
struct GeneratedEvents {
  std::string channel, file;
  std::int64_t events = 0;
  std::vector<std::string> columns;  ///< names of the observables, and "weight" where there are any
};

struct Generated {
  std::vector<GeneratedEvents> channels;
  std::string
      settings;  ///< YAML beside them that reads them back, with truth and reference numbers
};

/// Writes toy events of a job at its parameters' toy values, and settings that read them back.
/// out: FILE.npy; of several channels FILE_CHANNEL.npy. source: what the job was read from, which stays
/// throws: ConfigError before anything is made; StorageError, and what the pipeline throws
Generated generate(const Workloads& workloads, Job job, const std::string& source,
                   const std::string& out);

}  // namespace sagips::run
