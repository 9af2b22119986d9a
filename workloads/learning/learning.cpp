#include "workloads/learning/learning.hpp"

#include <map>
#include <string>

namespace sagips::workloads {

std::map<std::string, std::string> learning_settings();  // generated from the YAML beside this file

namespace {

class Files final : public problem::ExampleSource {
 public:
  void fields(core::FieldList& list) override { files_.fields(list); }
  data::ExampleSets load(std::uint64_t, const data::Reading& reading) const override {
    return files_.load(reading);
  }
  bool is_drawn() const override { return false; }
  data::ExampleRowsPtr inputs_of(const data::InputFiles& files,
                                 const data::Reading& reading) const override {
    return files_.inputs_of(files, reading);
  }

 private:
  data::ExampleFiles files_;
};

}  // namespace

problem::LearningEntry learning_workload() {
  return {.name = "learning",
          .summary =
              "a network of yours that learns targets from inputs: classes or values, in "
              "files of yours",
          .settings = learning_settings(),
          .make = [] { return std::make_unique<Files>(); }};
}

}  // namespace sagips::workloads
