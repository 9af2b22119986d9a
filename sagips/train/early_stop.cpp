#include "sagips/train/early_stop.hpp"

#include "sagips/core/text.hpp"

namespace sagips::train {

void EarlyStopConfig::fields(core::FieldList& list) {
  list.add("patience", patience,
           "evaluations without a smaller held-out distance before the run stops; 0: never",
           core::Range::at_least(0));
  list.add("improvement", improvement, "relative fall of the distance that counts",
           core::Range::between(0, 1));
}

std::string EarlyStop::operator()(const record::Evaluated& evaluated) {
  if (config_.patience == 0) return {};
  for (const auto& distance : evaluated.distances) {
    if (distance.name != "ks_mean") continue;
    if (best_ < 0 || distance.value < best_ * (1 - config_.improvement)) {
      best_ = distance.value;
      since_best_ = 0;
    } else if (++since_best_ >= config_.patience) {
      return core::text("early stop: held-out distance has not fallen below ",
                        core::significant(best_, 3), " for ", since_best_, " evaluations");
    }
  }
  return {};
}

void EarlyStop::state(nn::StateList& list) {
  list.field("best", best_);
  list.field("since_best", since_best_);
}

}  // namespace sagips::train
