#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/record/environment.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/study.hpp"

namespace sagips::analysis::report {

/// A table of numbers that lies in a folder.
struct NamedTable {
  std::string name;                            ///< of the file, without .csv
  std::vector<std::vector<std::string>> rows;  ///< header first
};

/// One training of a study, and what it found.
struct MemberContents {
  record::StudyMember member;
  std::optional<record::Results> results;
};

/// What a run folder holds, as far as it is there. The folder of a study (an ensemble, a scan) is
/// one, too.
struct RunContents {
  enum class State { finished, stopped, failed, running, unfinished };

  std::string folder;  ///< as it was named
  std::string name;    ///< "proxy1d/look"
  std::string workload;
  State state = State::unfinished;
  std::string end;  ///< why and when it ended, or how far it came; one line
  std::optional<record::Results> results;
  std::vector<record::Event> metrics;
  std::string config;                       ///< YAML; empty: there is none
  std::vector<record::NamedText> settings;  ///< the same, one line a key: {"train.epochs", "20"}
  std::vector<record::NamedText> environment;
  std::vector<record::NamedNumber> timing;         ///< seconds of each part
  std::vector<std::vector<std::string>> exchange;  ///< rows of exchange.csv, header first
  std::vector<std::vector<std::string>> used;      ///< of monitor.csv
  std::optional<core::NpyArray> proposals;         ///< [rows, parameters]
  std::vector<std::string> figures;                ///< names in figures/, without .svg; sorted
  std::vector<std::string> warnings;               ///< lines of the log that warn or complain
  std::vector<std::string> log;                    ///< its last lines
  std::optional<record::Study> study;
  std::vector<MemberContents> members;             ///< of the study
  std::vector<NamedTable> tables;                  ///< of the study
  std::vector<std::vector<std::string>> verdicts;  ///< question, answer, mood and reason: its own
  std::string told;                                ///< tables that it printed at its end
  /// Many trainings that are looked at together: an ensemble, a scan, closure experiments,
  /// trainings on simulated ranks.
  bool is_study() const { return study || !tables.empty() || !told.empty(); }
  /// A network that learns targets from inputs: it has metrics in place of parameters.
  bool is_learning() const;
  /// What the networks learned from: "events", "rows".
  std::string unit() const;
  std::vector<std::string> unreadable;  ///< files that are damaged, and how
  /// The parameters of the results; empty when there are none.
  const std::vector<record::ParameterResult>& parameters() const;
};

/// Reads a run folder; what is missing or damaged stops nothing.
/// throws: ConfigError when the folder is none of a run
RunContents read_run(const std::string& folder);

/// The number of that name in the results; empty when there is none.
std::optional<double> number_of(const RunContents& run, const std::string& name);

/// The generator's proposals for the parameters that it was free to choose.
struct FreeProposals {
  std::vector<const record::ParameterResult*> parameters;
  std::vector<double> samples;  ///< row-major [proposals, parameters]
};
/// Empty when there are fewer than two proposals.
std::optional<FreeProposals> free_proposals(const RunContents& run);

/// How large the run drew its figures.
FigureConfig figure_config(const RunContents& run);

/// "2.5 s", "3 min 20 s".
std::string short_time(double s);

/// "finished", "stopped early", ... in words.
std::string state_words(RunContents::State state);

}  // namespace sagips::analysis::report
