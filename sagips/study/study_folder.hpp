#pragma once
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/record/open_run.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// Opens a study's folder as `record::open_run` does: the one that the same command left, or a new
/// one. With --override only the keys in `may_change` may: what is there must stay comparable with what
/// is added. data: what tells the events that are read from others; empty: none are
/// throws: ConfigError, StorageError
record::OpenedRun open_study(const run::Job& job, const std::string& command,
                             const std::string& data, record::Start start,
                             const std::vector<std::string>& may_change);

/// Writes study.json. A full disk costs the file, which is made anew from the members' folders when
/// the study goes on, and not the study: a warning tells.
void save_study(const std::string& path, const record::Study& study, core::Log& log);

/// How many members are in that state.
std::size_t count(const record::Study& study, record::StudyMember::State state);

/// A line for each member that failed, with its reason.
void say_failures(const record::Study& study, std::ostream& out);

}  // namespace sagips::study
