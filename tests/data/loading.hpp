#pragma once
#include <string>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/data/dataset.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::testing {

inline data::DatasetConfig config_of(const std::string& file, std::vector<std::string> columns = {},
                                     std::vector<std::string> cuts = {}) {
  data::DatasetConfig config;
  config.file = file;
  config.columns = std::move(columns);
  config.cuts = std::move(cuts);
  return config;
}

/// The message with which a data set is refused, without the file's name before it.
inline std::string data_refusal(const data::DatasetConfig& config,
                                const std::vector<std::string>& defaults = {}) {
  const std::string message =
      message_of<core::DataError>([&] { data::load_dataset(config, defaults); });
  EXPECT_TRUE(message.starts_with(config.file + ":")) << message;
  return message.substr(std::min(message.size(), config.file.size() + 1));
}

inline std::vector<float> numbers(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

/// More rows than are read at once: 0, 1, ... ; their remainders by 7; weights 0, 1, 2, 0, ...
struct ManyRows {
  static constexpr std::size_t count = 1'200'000;
  std::vector<float> number, remainder, weight;
  ManyRows() : number(count), remainder(count), weight(count) {
    for (std::size_t i = 0; i < count; ++i) {
      number[i] = static_cast<float>(i);
      remainder[i] = static_cast<float>(i % 7);
      weight[i] = static_cast<float>(i % 3);
    }
  }
  /// shape: [count, 3]
  std::vector<float> array() const {
    std::vector<float> all;
    for (std::size_t i = 0; i < count; ++i)
      all.insert(all.end(), {number[i], remainder[i], weight[i]});
    return all;
  }
};

/// What must come of ManyRows, in pieces as at once; config: names the file, and these columns.
inline void expect_many_rows(data::DatasetConfig config, const std::string& number,
                             const std::string& remainder, const std::string& weight) {
  const auto row = [](float value) { return static_cast<std::size_t>(value); };
  config.columns = {number};
  config.weight_column = weight;
  const data::Dataset all = data::load_dataset(config, {});
  ASSERT_EQ(all.size(), 1'200'000);
  EXPECT_TRUE(torch::equal(all.values.flatten(), torch::arange(1'200'000, torch::kFloat32)));
  EXPECT_TRUE(torch::equal(*all.weights, torch::arange(1'200'000).fmod(3).to(torch::kFloat32)));
  config.cuts = {number + " > 4", remainder + " == 5"};
  const data::Dataset cut = data::load_dataset(config, {});
  ASSERT_EQ(cut.size(), 1'200'000 / 7);
  for (const float value : {numbers(cut.values).front(), numbers(cut.values).back()})
    EXPECT_EQ(row(value) % 7, 5u);
  EXPECT_TRUE(torch::equal(*cut.weights, cut.values.flatten().fmod(3)));
  config.maximum_events = 100'000;
  EXPECT_TRUE(
      torch::equal(data::load_dataset(config, {}).values, cut.values.narrow(0, 0, 100'000)));
  config.maximum_events = 0;
  config.rows = {1, 2};
  const data::Dataset half = data::load_dataset(config, {});
  EXPECT_EQ(half.values[0][0].item<float>(), 600'003);
  EXPECT_TRUE(torch::equal(half.values, cut.values.slice(0, cut.size() - half.size())));
  config.cuts = {number + " >= 700000", remainder + " > 6"};
  EXPECT_EQ(data_refusal(config), " no event is left: of 600000 events, 500000 reached the cut '" +
                                      remainder + " > 6' and it removed them all. Widen that cut.");
}

}  // namespace sagips::testing
