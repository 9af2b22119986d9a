#pragma once
#include <optional>
#include <string>
#include <vector>

namespace sagips::record {

/// What the members of one point of a grid have in common.
struct StudyVariant {
  std::string label;                     ///< "generator.width=64"; "all" where there is one
  std::vector<std::string> assignments;  ///< what the label stands for: {"generator.width=64"}
};

/// One training of a study.
struct StudyMember {
  enum class State { pending, done, failed };
  std::string name;     ///< of its run folder
  std::string variant;  ///< label
  std::string varied;   ///< what differs from the next one: "seeds", "bootstraps"
  std::string folder;   ///< its run folder, relative to the study's
  State state = State::pending;
  std::string reason{};  ///< why it failed, or why it is pending after it was begun
};

/// Many trainings that are looked at together, as `study.json` holds them:
/// {"kind": "ensemble", "workload": "proxy1d", "ranks": 1,
///  "variants": [{"label": "all", "assignments": []}],
///  "members": [{"name": "seed_001", "variant": "all", "varied": "seeds",
///               "folder": "members/proxy1d/seed_001", "state": "done", "reason": ""}]}
struct Study {
  std::string kind;  ///< which command made it: "ensemble", "closure", ...
  std::string workload;
  int ranks = 1;  ///< of each member
  std::vector<StudyVariant> variants;
  std::vector<StudyMember> members;

  /// The members of a variant that are done. varied: "seeds" or "bootstraps"; empty: either
  std::vector<const StudyMember*> done(const std::string& variant,
                                       const std::string& varied = {}) const;
};

/// Written aside and renamed. throws: StorageError
void write_study(const std::string& path, const Study& study);
/// throws: DataError
Study read_study(const std::string& path);

/// The same without a file, for sending it; `origin` names it in messages.
std::string study_text(const Study& study);
Study parse_study(const std::string& text, const std::string& origin);

}  // namespace sagips::record
