#include "sagips/run/training_watch.hpp"

#include "sagips/core/text.hpp"
#include "sagips/record/event_json.hpp"

namespace sagips::run {

namespace {

void evaluation_state(nn::StateList& list, const std::string& name, record::Evaluated& evaluated) {
  std::string words = record::event_to_json(evaluated);
  list.field(name, words);
  if (!list.gives()) evaluated = std::get<record::Evaluated>(record::event_from_json(words));
}

}  // namespace

record::Observer keeper(TrainingRecord& kept) {
  return [&kept](const record::Event& event) {
    if (const auto* evaluated = std::get_if<record::Evaluated>(&event)) {
      if (kept.first.parameters.empty()) kept.first = *evaluated;
      kept.last = *evaluated;
    }
    if (const auto* finished = std::get_if<record::RunFinished>(&event)) kept.finished = *finished;
  };
}

record::Observer warner(core::Log& log) {
  return [&log](const record::Event& event) {
    if (const auto* warning = std::get_if<record::Warning>(&event))
      log.warning(core::text("epoch ", warning->epoch, ": ", warning->message));
  };
}

record::Observer counter(RankRow& row) {
  return [&row](const record::Event& event) {
    if (const auto* epoch = std::get_if<record::EpochDone>(&event)) {
      const double events = row.events_per_second * row.time_s +
                            epoch->events_per_second * (epoch->time_s - row.time_s);
      row.epochs = epoch->epoch;
      row.time_s = epoch->time_s;
      row.events_per_second = row.time_s > 0 ? events / row.time_s : 0;
    }
  };
}

void watch_state(nn::StateList& list, TrainingRecord& kept, RankRow& row) {
  evaluation_state(list, "first_evaluation", kept.first);
  evaluation_state(list, "last_evaluation", kept.last);
  list.field("row.epochs", row.epochs);
  list.field("row.time_s", row.time_s);
  list.field("row.events_per_second", row.events_per_second);
}

}  // namespace sagips::run
