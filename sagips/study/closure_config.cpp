#include "sagips/study/closure_config.hpp"

namespace sagips::study {

void ClosureConfig::fields(core::FieldList& list) {
  list.add("experiments", experiments, "toy data sets, each solved anew; also --experiments",
           core::Range::between(2, 1e7));
  list.add("method", method,
           "what estimates the parameters: gan, or a solver (see `sagips list`); also --method");
  list.add("members", members,
           "with gan: networks of an experiment that differ by their seeds; also --members",
           core::Range::between(2, 1e4));
  list.add("bootstraps", bootstraps,
           "with gan: further networks of an experiment, on its data drawn again; 0: none",
           core::Range::between(0, 1e4));
}

}  // namespace sagips::study
