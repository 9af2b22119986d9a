#include "sagips/record/tensor_file.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

TensorFile example_file() {
  const std::vector<float> floats{1.5F, -2, 3, 4, 5, 6};
  const double step = 0.1;
  TensorFile content;
  content.tensors["weights"] = StoredTensor::of(floats, {2, 3});
  content.tensors["adam.step"] = {
      StoredTensor::Type::f64, {}, {reinterpret_cast<const char*>(&step), sizeof step}};
  content.tensors["empty"] = StoredTensor::of({}, {0, 4});
  content.notes = {{"epoch", "12"}, {"says", "ü \"quoted\"\n"}};
  return content;
}

TEST(TensorFile, ComesBackAsItWas) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.safetensors");
  write_tensor_file(path, example_file());
  const TensorFile back = read_tensor_file(path);
  EXPECT_EQ(back.tensors, example_file().tensors);
  EXPECT_EQ(back.notes, example_file().notes);
  EXPECT_EQ(back.tensor("weights", path).numbers(), (std::vector<double>{1.5, -2, 3, 4, 5, 6}));
}

// The layout that the format's README prescribes, byte by byte.
TEST(TensorFile, HasTheLayoutOfTheFormat) {
  TensorFile content;
  const std::vector<float> one{1};
  content.tensors["a"] = StoredTensor::of(one, {1});
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string bytes = tensor_file_bytes(content);
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  ASSERT_EQ(bytes.size(), 8 + padded + 4);
  EXPECT_EQ(static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])), padded);
  EXPECT_EQ(bytes.substr(1, 7), std::string(7, '\0'));
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  EXPECT_EQ(bytes.substr(8 + padded), std::string("\x00\x00\x80\x3F", 4));
}

TEST(TensorFile, RefusesWhatIsCutOffAnywhere) {
  const std::string bytes = tensor_file_bytes(example_file());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(parse_tensor_file(bytes.substr(0, length), "cut"), core::DataError) << length;
  EXPECT_THROW(parse_tensor_file(bytes + "x", "long"), core::DataError);
}

TEST(TensorFile, RefusesForeignHeaders) {
  const auto with = [](const std::string& header, std::size_t data) {
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size());
    return bytes + header + std::string(data, '\0');
  };
  const auto refused = [&](const std::string& header, std::size_t data) {
    return message_of<core::DataError>([&] { parse_tensor_file(with(header, data), "foreign"); });
  };
  EXPECT_NE(refused("no json at all", 0).find("header cannot be read"), std::string::npos);
  EXPECT_NE(refused(R"({"a":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})", 1).find("type"),
            std::string::npos);
  EXPECT_NE(refused(R"({"a":{"dtype":"F32","shape":[9],"data_offsets":[0,4]}})", 4)
                .find("larger than the file"),
            std::string::npos);
  EXPECT_NE(refused(R"({"a":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}})", 4)
                .find("larger than the file"),
            std::string::npos);
  EXPECT_NE(refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8).find("gaps"),
            std::string::npos);
  EXPECT_NE(refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 4).find("outside"),
            std::string::npos);
  EXPECT_NE(refused(R"({"a":7})", 0).find("header cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace sagips::record
