#include "workloads/classify/classify.hpp"

#include <filesystem>
#include <map>
#include <string>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"
#include "workloads/classify/drawn_images.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> classify_settings();  // generated from the YAML beside this file

namespace {

/// Where Debian's package dataset-fashion-mnist puts its four files.
constexpr const char* fashion_folder = "/usr/share/datasets/fashion-mnist";

/// Where an installation has the digits, where a package of Python does, and where set-up leaves them beside a build
/// folder.
constexpr const char* digits_from_program[] = {"/../share/sagips/digits.csv.gz", "/digits.csv.gz",
                                               "/../../datasets/digits.csv.gz"};

data::ExampleFiles digits_in(const std::string& file) {
  data::ExampleFiles files;
  files.inputs = {.file = {file}, .shape = {1, 8, 8}, .divide_by = 16};
  files.targets = {.file = {file}, .columns = {"64"}};
  return files;
}

data::ExampleSets digits(const data::Reading& reading) {
  const std::string beside = std::filesystem::path(core::own_image()).parent_path().string();
  for (const char* place : digits_from_program)
    if (const std::string file = beside + place; std::filesystem::exists(file)) {
      data::ExampleSets sets = digits_in(file).load(reading);
      sets.origin = "handwritten digits";
      return sets;
    }
  throw core::ConfigError("data.images",
                          core::text("there are no digits (", beside, digits_from_program[0],
                                     "). tools/setup.sh fetches them; or choose shapes."));
}

data::ExampleSets fashion(const data::Reading& reading) {
  const std::string folder = fashion_folder;
  if (!std::filesystem::exists(folder))
    throw core::ConfigError("data.images",
                            core::text("there is no ", folder,
                                       ". Install Debian's dataset-fashion-mnist, or choose "
                                       "shapes."));
  data::ExampleFiles files;
  const auto images = [&](const std::string& name) {
    return data::ArraySource{.file = {folder + "/" + name}, .shape = {1, 28, 28}, .divide_by = 255};
  };
  files.inputs = images("train-images-idx3-ubyte.gz");
  files.targets.file = {folder + "/train-labels-idx1-ubyte.gz"};
  files.validation_inputs = images("t10k-images-idx3-ubyte.gz");
  files.validation_targets.file = {folder + "/t10k-labels-idx1-ubyte.gz"};
  files.classes = {"t-shirt", "trousers", "pullover", "dress", "coat",
                   "sandal",  "shirt",    "sneaker",  "bag",   "boot"};
  data::ExampleSets sets = files.load(reading);
  sets.origin = "Fashion-MNIST";
  return sets;
}

class Classify final : public problem::ExampleSource {
 public:
  enum class Images { digits, fashion, shapes, tracks };

  void fields(core::FieldList& list) override {
    list.choice("images", images_,
                {{"digits", Images::digits},
                 {"fashion", Images::fashion},
                 {"shapes", Images::shapes},
                 {"tracks", Images::tracks}},
                "handwritten digits 1 x 8 x 8; clothes 1 x 28 x 28; drawn figures 3 x 32 x 32; "
                "drawn tracks of a detector 5 x 150 x 94");
    list.add("rows", rows_, "drawn images to learn from", core::Range::between(1, 1e8));
    list.add("validation_rows", validation_rows_, "further ones for evaluations",
             core::Range::between(1, 1e8));
    core::needs(list, images_ == Images::shapes || images_ == Images::tracks,
                "images=shapes or tracks", {"rows", "validation_rows"});
    core::needs(list, images_ == Images::digits, "rows kept aside (images=digits)", {"held_out"});
  }

  data::ExampleSets load(std::uint64_t seed, const data::Reading& reading) const override {
    if (images_ == Images::digits) return digits(reading);
    if (images_ == Images::fashion) return fashion(reading);
    const DrawnImages& images = images_ == Images::shapes ? shapes() : tracks();
    const auto rows = [&](std::int64_t first, std::int64_t count) {
      return data::hold([&] { return drawn(images, first, count, seed); }, reading);
    };
    return {.training = rows(0, rows_),
            .validation = rows(rows_, validation_rows_),
            .classes = images.classes,
            .origin = "drawn images"};
  }

  bool is_drawn() const override { return images_ == Images::shapes || images_ == Images::tracks; }

  data::ExampleRowsPtr inputs_of(const data::InputFiles& named,
                                 const data::Reading& reading) const override {
    if (images_ == Images::digits)
      return digits_in(data::only_file(named)).inputs_of(named, reading);
    data::ExampleFiles files;
    if (images_ == Images::fashion) files.inputs = {.shape = {1, 28, 28}, .divide_by = 255};
    return files.inputs_of(named, reading);
  }

 private:
  Images images_ = Images::digits;
  std::int64_t rows_ = 20000, validation_rows_ = 5000;
};

}  // namespace

problem::LearningEntry classify_workload() {
  return {.name = "classify",
          .summary = "a learning problem: which class does an image show? handwritten digits",
          .settings = classify_settings(),
          .make = [] { return std::make_unique<Classify>(); }};
}

}  // namespace sagips::workloads
