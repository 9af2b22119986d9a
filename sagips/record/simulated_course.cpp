#include "sagips/record/simulated_course.hpp"

#include <exception>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {

void each_field(Either<SimulatedCourse::Point> auto& point, const auto& use) {
  use("epoch", point.epoch);
  use("time_s", point.time_s);
  use("last_s", point.last_s);
  use("first", point.first);
  use("mean", point.mean);
  use("spread", point.spread);
  use("typical", point.typical);
  use("consensus_distance", point.consensus_distance);
}

void each_field(Either<SimulatedCourse> auto& course, const auto& use) {
  use("exchange", course.exchange);
  use("description", course.description);
  use("ranks", course.ranks);
  use("floats", course.floats);
  use("parameters", course.parameters);
  use("exposed_s", course.exposed_s);
  use("used", course.used);
  use("dropped", course.dropped);
  use("missing", course.missing);
  use("age_mean", course.age_mean);
  use("age_maximum", course.age_maximum);
  use("points", course.points);
}

void write_simulated_course(const std::string& path, const SimulatedCourse& course) {
  core::write_file(
      path, json_of(course).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

SimulatedCourse read_simulated_course(const std::string& path) {
  const std::string content = core::read_file(path);
  try {
    SimulatedCourse course;
    read_into(course, Json::parse(content));
    return course;
  } catch (const std::exception& error) {
    throw core::DataError(path, core::text("is no course of a simulated training (", error.what(),
                                           "). Delete it, it is made again."));
  }
}

}  // namespace sagips::record
