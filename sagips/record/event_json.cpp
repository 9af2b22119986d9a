#include "sagips/record/event_json.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {
namespace {

Json parameter_to_json(const ParameterState& parameter) {
  Json object{{"name", parameter.name},
              {"unit", parameter.unit},
              {"fixed", parameter.fixed},
              {"value", parameter.value},
              {"spread", parameter.spread}};
  if (parameter.truth) object["truth"] = *parameter.truth;
  if (parameter.residual) object["residual"] = *parameter.residual;
  return object;
}

ParameterState parameter_from_json(const Json& object) {
  ParameterState parameter;
  parameter.name = object.at("name").get<std::string>();
  parameter.unit = object.at("unit").get<std::string>();
  parameter.fixed = object.at("fixed").get<bool>();
  parameter.value = number(object.at("value"));
  parameter.spread = number(object.at("spread"));
  if (object.contains("truth")) parameter.truth = number(object["truth"]);
  if (object.contains("residual")) parameter.residual = number(object["residual"]);
  return parameter;
}

struct ToJson {
  Json operator()(const RunStarted& event) const {
    return {{"event", "run_started"},
            {"workload", event.workload},
            {"folder", event.folder},
            {"epochs", event.epochs},
            {"minutes", event.minutes}};
  }
  Json operator()(const EpochDone& event) const {
    return {{"event", "epoch_done"},
            {"epoch", event.epoch},
            {"time_s", event.time_s},
            {"events_per_second", event.events_per_second},
            {"losses", named_numbers_to_json(event.losses)}};
  }
  Json operator()(const Evaluated& event) const {
    Json parameters = Json::array();
    for (const ParameterState& parameter : event.parameters)
      parameters.push_back(parameter_to_json(parameter));
    Json object{{"event", "evaluated"},
                {"epoch", event.epoch},
                {"time_s", event.time_s},
                {"parameters", std::move(parameters)},
                {"distances", named_numbers_to_json(event.distances)}};
    if (!event.ranks.empty()) object["ranks"] = named_numbers_to_json(event.ranks);
    return object;
  }
  Json operator()(const Exchanged& event) const {
    return {{"event", "exchanged"},
            {"epoch", event.epoch},
            {"subject", event.subject},
            {"exchange", event.exchange},
            {"calls", event.calls},
            {"messages", event.messages},
            {"bytes", event.bytes},
            {"exposed_s", event.exposed_s},
            {"waiting_s", event.waiting_s},
            {"hidden_s", event.hidden_s},
            {"used", event.used},
            {"dropped", event.dropped},
            {"missing", event.missing},
            {"age_mean", event.age_mean},
            {"age_maximum", event.age_maximum}};
  }
  Json operator()(const Warning& event) const {
    return {{"event", "warning"}, {"epoch", event.epoch}, {"message", event.message}};
  }
  Json operator()(const RunFinished& event) const {
    return {{"event", "run_finished"},
            {"epochs", event.epochs},
            {"time_s", event.time_s},
            {"reason", event.reason},
            {"complete", event.complete}};
  }
};

RunStarted run_started(const Json& object) {
  return {object.at("workload").get<std::string>(), object.at("folder").get<std::string>(),
          object.at("epochs").get<std::int64_t>(), number(object.at("minutes"))};
}

EpochDone epoch_done(const Json& object) {
  return {object.at("epoch").get<std::int64_t>(), number(object.at("time_s")),
          number(object.at("events_per_second")), named_numbers_from_json(object.at("losses"))};
}

Evaluated evaluated(const Json& object) {
  Evaluated event{object.at("epoch").get<std::int64_t>(), number(object.at("time_s")), {}, {}, {}};
  for (const Json& parameter : object.at("parameters"))
    event.parameters.push_back(parameter_from_json(parameter));
  event.distances = named_numbers_from_json(object.at("distances"));
  if (object.contains("ranks")) event.ranks = named_numbers_from_json(object["ranks"]);
  return event;
}

Exchanged exchanged(const Json& object) {
  const auto whole = [&](const char* key) { return object.at(key).get<std::int64_t>(); };
  Exchanged event;
  event.epoch = whole("epoch");
  event.subject = object.at("subject").get<std::string>();
  event.exchange = object.at("exchange").get<std::string>();
  event.calls = whole("calls");
  event.messages = whole("messages");
  event.bytes = whole("bytes");
  event.exposed_s = number(object.at("exposed_s"));
  event.waiting_s = number(object.at("waiting_s"));
  event.hidden_s = number(object.at("hidden_s"));
  event.used = whole("used");
  event.dropped = whole("dropped");
  event.missing = whole("missing");
  event.age_mean = number(object.at("age_mean"));
  event.age_maximum = number(object.at("age_maximum"));
  return event;
}

Warning warning(const Json& object) {
  return {object.at("epoch").get<std::int64_t>(), object.at("message").get<std::string>()};
}

RunFinished run_finished(const Json& object) {
  return {object.at("epochs").get<std::int64_t>(), number(object.at("time_s")),
          object.at("reason").get<std::string>(), object.at("complete").get<bool>()};
}

}  // namespace

std::string event_to_json(const Event& event) {
  // A log message may carry bytes that are no UTF-8; they are replaced, not refused.
  return std::visit(ToJson{}, event).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Event event_from_json(const std::string& line) {
  const Json object = Json::parse(line);
  const auto kind = object.at("event").get<std::string>();
  if (kind == "run_started") return run_started(object);
  if (kind == "epoch_done") return epoch_done(object);
  if (kind == "evaluated") return evaluated(object);
  if (kind == "exchanged") return exchanged(object);
  if (kind == "warning") return warning(object);
  if (kind == "run_finished") return run_finished(object);
  throw core::Error(core::text("unknown kind of event '", kind, "'"));
}

}  // namespace sagips::record
