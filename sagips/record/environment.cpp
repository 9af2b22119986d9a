#include "sagips/record/environment.hpp"

#include <exception>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {

void write_environment(const std::string& path, const std::vector<NamedText>& facts) {
  Json object = Json::object();
  for (const NamedText& fact : facts) object[fact.name] = fact.value;
  core::write_file(path, file_text(object, 2));
}

std::vector<NamedText> read_environment(const std::string& path) {
  const std::string content = core::read_file(path);
  try {
    const Json object = Json::parse(content);
    if (!object.is_object()) throw core::Error("no object");
    std::vector<NamedText> facts;
    for (const auto& [name, value] : object.items())
      facts.push_back({name, value.get<std::string>()});
    return facts;
  } catch (const std::exception& problem) {
    throw core::DataError(path, core::text("holds no facts about a run (", problem.what(),
                                           "). Use the file as the run wrote it."));
  }
}

}  // namespace sagips::record
