#include <sagips/env/outside/plugin.hpp>

struct MyStage {  // times of exponential decays, smeared by a clock
  double clock = 0.3;

  void fields(sagips::core::FieldList& list) {
    list.add("clock", clock, "resolution [us]", sagips::core::Range::at_least(0));
  }
  torch::Tensor operator()(torch::Tensor lifetime, sagips::env::Noise& noise) const {
    return (lifetime * -torch::log(noise.uniform()) + clock * noise.normal()).unsqueeze(2);
  }
};

SAGIPS_PLUGIN(stages) { stages.add<MyStage>("my_stage", "times of exponential decays"); }
