#include "sagips/record/simulated_learning_curve.hpp"

#include "sagips/core/file.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {

void each_field(Either<SimulatedLearningCurve::Point> auto& point, const auto& use) {
  use("epoch", point.epoch);
  use("time_s", point.time_s);
  use("last_s", point.last_s);
  use("first", point.first);
  use("mean", point.mean);
  use("spread", point.spread);
  use("typical", point.typical);
  use("consensus_distance", point.consensus_distance);
}

void each_field(Either<SimulatedLearningCurve> auto& curve, const auto& use) {
  use("exchange", curve.exchange);
  use("description", curve.description);
  use("ranks", curve.ranks);
  use("floats", curve.floats);
  use("parameters", curve.parameters);
  use("exposed_s", curve.exposed_s);
  use("used", curve.used);
  use("dropped", curve.dropped);
  use("missing", curve.missing);
  use("age_mean", curve.age_mean);
  use("age_maximum", curve.age_maximum);
  use("points", curve.points);
}

void write_simulated_learning_curve(const std::string& path, const SimulatedLearningCurve& curve) {
  core::write_file(path, file_text(json_of(curve), 1));
}

SimulatedLearningCurve read_simulated_learning_curve(const std::string& path) {
  return parse_record<SimulatedLearningCurve>(core::read_file(path), path,
                                              "is no learning curve of a simulated training",
                                              "Delete it, it is made again.");
}

}  // namespace sagips::record
