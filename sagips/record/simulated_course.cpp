#include "sagips/record/simulated_course.hpp"

#include <exception>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {
namespace {

/// Each member with its key, once for both directions.
/// use: key, member
template <class Point, class Use>
void each_of_point(Point& point, const Use& use) {
  use("epoch", point.epoch);
  use("time_s", point.time_s);
  use("last_s", point.last_s);
  use("first", point.first);
  use("mean", point.mean);
  use("spread", point.spread);
  use("typical", point.typical);
  use("consensus_distance", point.consensus_distance);
}

template <class Course, class Use>
void each_of_course(Course& course, const Use& use) {
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
}

Json to_json(const SimulatedCourse& course) {
  Json object, points = Json::array();
  each_of_course(course, [&](const char* key, const auto& value) { object[key] = value; });
  for (const SimulatedCourse::Point& point : course.points) {
    Json one;
    each_of_point(point, [&](const char* key, const auto& value) { one[key] = value; });
    points.push_back(std::move(one));
  }
  object["points"] = std::move(points);
  return object;
}

SimulatedCourse course_from_json(const Json& object) {
  SimulatedCourse course;
  each_of_course(course, [&](const char* key, auto& value) { object.at(key).get_to(value); });
  for (const Json& one : object.at("points")) {
    SimulatedCourse::Point point;
    each_of_point(point, [&](const char* key, auto& value) { one.at(key).get_to(value); });
    course.points.push_back(std::move(point));
  }
  return course;
}

}  // namespace

void write_simulated_course(const std::string& path, const SimulatedCourse& course) {
  core::write_file(
      path, to_json(course).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

SimulatedCourse read_simulated_course(const std::string& path) {
  const std::string content = core::read_file(path);
  try {
    return course_from_json(Json::parse(content));
  } catch (const std::exception& error) {
    throw core::DataError(path, core::text("is no course of a simulated training (", error.what(),
                                           "). Delete it, it is made again."));
  }
}

}  // namespace sagips::record
