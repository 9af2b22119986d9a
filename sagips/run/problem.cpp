#include "sagips/run/problem.hpp"

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/predict.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

train::ExchangeChoice Problem::exchanges(const Settings& settings) const {
  return {settings.exchange, {}, settings.exchanges};
}

void Problem::add_needs(const core::FieldList& list, const Job& job, const Usage& usage) const {
  using core::needs;
  if (has_gem(job, usage))
    needs(list, !comm::keeps_central_weights(job.settings.exchange), no_gem, {"optimizer"});
  needs(list, job.settings.early_stop.watches() || waits_for_plateau(),
        "early_stop.patience or target", {"early_stop.metric", "early_stop.better"});
  needs(list, false, "rows kept aside", {"early_stop.restore"});
  needs(list, false, "a generator of parameters", {"train.snapshots", "run.fit"});
}

bool Problem::check(const Look&) const { return true; }

StepOfRanks Problem::step_of_ranks(const Job& job) const {
  throw core::ConfigError("command line",
                          core::text("'", job.settings.workload, "' is ", description(),
                                     ", of which nobody knows what its ranks exchange."));
}

Predicted Problem::predict(const Job& job, const std::string& folder, const PredictOptions&,
                           core::Log&) const {
  throw core::ConfigError(
      folder, core::text("holds the networks of '", job.settings.workload, "', ", description(),
                         ", which predict nothing alone."));
}

}  // namespace sagips::run
