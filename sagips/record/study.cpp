#include "sagips/record/study.hpp"

#include <array>
#include <exception>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {
namespace {

using State = StudyMember::State;
constexpr std::array states{std::pair{State::pending, "pending"}, std::pair{State::done, "done"},
                            std::pair{State::failed, "failed"}};

std::string word_of(State state) {
  for (const auto& [known, word] : states)
    if (known == state) return word;
  return {};
}

State state_of(const std::string& word) {
  for (const auto& [state, known] : states)
    if (word == known) return state;
  throw core::Error(core::text("the state '", core::excerpt(word), "' is none of its members'"));
}

Json to_json(const Study& study) {
  Json variants = Json::array(), members = Json::array();
  for (const StudyVariant& variant : study.variants)
    variants.push_back({{"label", variant.label}, {"assignments", variant.assignments}});
  for (const StudyMember& member : study.members)
    members.push_back({{"name", member.name},
                       {"variant", member.variant},
                       {"varied", member.varied},
                       {"folder", member.folder},
                       {"state", word_of(member.state)},
                       {"reason", member.reason}});
  return {{"kind", study.kind},
          {"workload", study.workload},
          {"ranks", study.ranks},
          {"variants", std::move(variants)},
          {"members", std::move(members)}};
}

Study study_from_json(const Json& object) {
  Study study;
  object.at("kind").get_to(study.kind);
  object.at("workload").get_to(study.workload);
  object.at("ranks").get_to(study.ranks);
  for (const Json& one : object.at("variants"))
    study.variants.push_back({one.at("label").get<std::string>(),
                              one.at("assignments").get<std::vector<std::string>>()});
  for (const Json& one : object.at("members"))
    study.members.push_back(
        {one.at("name").get<std::string>(), one.at("variant").get<std::string>(),
         one.at("varied").get<std::string>(), one.at("folder").get<std::string>(),
         state_of(one.at("state").get<std::string>()), one.at("reason").get<std::string>()});
  return study;
}

}  // namespace

std::vector<const StudyMember*> Study::done(const std::string& variant,
                                            const std::string& varied) const {
  std::vector<const StudyMember*> found;
  for (const StudyMember& member : members)
    if (member.state == State::done && member.variant == variant &&
        (varied.empty() || member.varied == varied))
      found.push_back(&member);
  return found;
}

std::string study_text(const Study& study) {
  return to_json(study).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Study parse_study(const std::string& text, const std::string& origin) {
  try {
    return study_from_json(Json::parse(text));
  } catch (const std::exception& error) {
    throw core::DataError(origin, core::text("is no study of SAGIPS (", error.what(),
                                             "). Name the folder of an ensemble."));
  }
}

void write_study(const std::string& path, const Study& study) {
  core::write_file(path, study_text(study));
}

Study read_study(const std::string& path) { return parse_study(core::read_file(path), path); }

}  // namespace sagips::record
