#include "sagips/record/study.hpp"

#include <array>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {
namespace {

using State = StudyMember::State;
constexpr std::array states{std::pair{State::pending, "pending"}, std::pair{State::done, "done"},
                            std::pair{State::failed, "failed"}};

}  // namespace

static Json json_of(State state) {
  for (const auto& [known, word] : states)
    if (known == state) return word;
  return nullptr;
}

static void read_into(State& state, const Json& json) {
  const auto word = json.get<std::string>();
  for (const auto& [known, its_word] : states)
    if (word == its_word) {
      state = known;
      return;
    }
  throw core::Error(core::text("the state '", core::excerpt(word), "' is none of its members'"));
}

void each_field(Either<StudyVariant> auto& variant, const auto& use) {
  use("label", variant.label);
  use("assignments", variant.assignments);
}

void each_field(Either<StudyMember> auto& member, const auto& use) {
  use("name", member.name);
  use("variant", member.variant);
  use("varied", member.varied);
  use("folder", member.folder);
  use("state", member.state);
  use("reason", member.reason);
}

void each_field(Either<Study> auto& study, const auto& use) {
  use("kind", study.kind);
  use("workload", study.workload);
  use("ranks", study.ranks);
  use("variants", study.variants);
  use("members", study.members);
}

std::vector<const StudyMember*> Study::done(const std::string& variant,
                                            const std::string& varied) const {
  std::vector<const StudyMember*> found;
  for (const StudyMember& member : members)
    if (member.state == State::done && member.variant == variant &&
        (varied.empty() || member.varied == varied))
      found.push_back(&member);
  return found;
}

std::string study_text(const Study& study) { return file_text(json_of(study), 1); }

Study parse_study(const std::string& text, const std::string& origin) {
  return parse_record<Study>(text, origin, "is no study of SAGIPS",
                             "Name the folder of an ensemble.");
}

void write_study(const std::string& path, const Study& study) {
  core::write_file(path, study_text(study));
}

Study read_study(const std::string& path) { return parse_study(core::read_file(path), path); }

}  // namespace sagips::record
