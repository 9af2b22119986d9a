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

}  // namespace sagips::testing
