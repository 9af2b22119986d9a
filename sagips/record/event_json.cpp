#include "sagips/record/event_json.hpp"

#include <array>
#include <type_traits>
#include <variant>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {

void each_field(Either<ParameterState> auto& parameter, const auto& use) {
  use("name", parameter.name);
  use("unit", parameter.unit);
  use("fixed", parameter.fixed);
  use("value", parameter.value);
  use("spread", parameter.spread);
  use.known("truth", parameter.truth);
  use.known("residual", parameter.residual);
}

void each_field(Either<RunStarted> auto& event, const auto& use) {
  use("workload", event.workload);
  use("folder", event.folder);
  use("epochs", event.epochs);
  use("minutes", event.minutes);
}

void each_field(Either<EpochDone> auto& event, const auto& use) {
  use("epoch", event.epoch);
  use("time_s", event.time_s);
  use.named(event.unit, "_per_second", event.events_per_second);
  use("losses", event.losses);
  // Earlier versions wrote rows as events, too; a single loss is that of rows.
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(event)>>)
    if (event.losses.size() == 1 && event.losses[0].name == "loss" && event.unit == "events")
      event.unit = "rows";
  use.known("learning_rates", event.learning_rates);
}

void each_field(Either<Evaluated> auto& event, const auto& use) {
  use("epoch", event.epoch);
  use("time_s", event.time_s);
  use("parameters", event.parameters);
  // Earlier versions wrote metrics of rows as distances, too.
  use.either(event.parameters.empty(), "metrics", "distances", event.metrics);
  use.known("ranks", event.ranks);
}

void each_field(Either<Exchanged> auto& event, const auto& use) {
  use("epoch", event.epoch);
  use("subject", event.subject);
  use("exchange", event.exchange);
  use("calls", event.calls);
  use("messages", event.messages);
  use("bytes", event.bytes);
  use("exposed_s", event.exposed_s);
  use("waiting_s", event.waiting_s);
  use("hidden_s", event.hidden_s);
  use.known("copying_s", event.copying_s);
  use("used", event.used);
  use("dropped", event.dropped);
  use("missing", event.missing);
  use("age_mean", event.age_mean);
  use("age_maximum", event.age_maximum);
}

void each_field(Either<Warning> auto& event, const auto& use) {
  use("epoch", event.epoch);
  use("message", event.message);
}

void each_field(Either<RunFinished> auto& event, const auto& use) {
  use("epochs", event.epochs);
  use("time_s", event.time_s);
  use("reason", event.reason.text);
  use("complete", event.complete);
}

void each_field(Either<TimeSpent> auto& event, const auto& use) {
  use("epoch", event.epoch);
  each_field(event.split, use);
}

void each_field(Either<MachineUse> auto& event, const auto& use) {
  use("epoch", event.epoch);
  use("cores", event.cores);
  use("memory_mb", event.memory_mb);
  use("received_mb_per_s", event.received_mb_per_s);
  use("sent_mb_per_s", event.sent_mb_per_s);
  use.known("gpu_percent", event.gpu_percent);
  use.known("gpu_memory_mb", event.gpu_memory_mb);
}

namespace {

// In the order of the variant's alternatives.
constexpr std::array kinds{"run_started", "epoch_done",   "evaluated",  "exchanged",
                           "warning",     "run_finished", "time_spent", "machine_use"};
static_assert(kinds.size() == std::variant_size_v<Event>);

template <std::size_t kind = 0>
Event event_of(const std::string& word, const Json& object) {
  if constexpr (kind == kinds.size()) {
    throw core::Error(core::text("unknown kind of event '", word, "'"));
  } else {
    if (word != kinds[kind]) return event_of<kind + 1>(word, object);
    std::variant_alternative_t<kind, Event> event;
    read_into(event, object);
    return event;
  }
}

}  // namespace

std::string event_to_json(const Event& event) {
  Json object;
  object["event"] = kinds[event.index()];
  std::visit([&](const auto& one) { each_field(one, FieldWriter(object)); }, event);
  // A log message may carry bytes that are no UTF-8; they are replaced, not refused.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Event event_from_json(const std::string& line) {
  const Json object = Json::parse(line);
  return event_of(object.at("event").get<std::string>(), object);
}

}  // namespace sagips::record
