#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// Toy events of one channel in a file, or drawn examples.
struct GeneratedEvents {
  std::string channel, file;
  std::int64_t events = 0;
  std::vector<std::string>
      columns{};  ///< none of examples; else names of the observables, and "weight" where there are any
};

struct Generated {
  std::vector<GeneratedEvents> channels;
  std::string
      settings;  ///< YAML beside them that reads them back, with truth and reference numbers
};

/// Whether a job's examples may be written as files of their own form.
bool has_file_form(const Job& job);

/// Writes toy events of a job at its parameters' toy values, or the drawn examples of one that `has_file_form`,
/// and settings that read them back.
/// out: FILE.npy; of several channels FILE_CHANNEL.npy; examples: as their form ends. source: what the job
/// was read from, which stays
/// throws: ConfigError before anything is made; StorageError, and what the pipeline throws
Generated generate(const Workloads& workloads, Job job, const std::string& source,
                   const std::string& out);

}  // namespace sagips::run
