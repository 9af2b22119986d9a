#include "sagips/core/npy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/npy_bytes.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::core {
namespace {

using sagips::testing::message_of;
using sagips::testing::npy_bytes;
using sagips::testing::npy_dictionary;
using sagips::testing::raw;
using sagips::testing::TemporaryFolder;
using Shape = std::vector<std::size_t>;
using Values = std::vector<double>;

NpyArray read_bytes(const std::string& bytes) {
  const TemporaryFolder folder;
  return read_npy(folder.make("a.npy", bytes));
}

std::string refusal(const std::string& bytes) {
  return message_of<DataError>([&] { read_bytes(bytes); });
}

template <class Number>
void expect_type_is_read(const std::string& type, const std::vector<Number>& numbers) {
  const NpyArray array = read_bytes(
      npy_bytes(npy_dictionary(type, "(" + std::to_string(numbers.size()) + ",)"), raw(numbers)));
  EXPECT_EQ(array.shape, Shape{numbers.size()}) << type;
  EXPECT_EQ(array.values, Values(numbers.begin(), numbers.end())) << type;
}

TEST(Npy, ReadsEveryNumberType) {
  expect_type_is_read<float>("<f4", {1.5F, -2.25F});
  expect_type_is_read<double>("<f8", {1.1, -1e300});
  expect_type_is_read<std::int8_t>("|i1", {-128, 127});
  expect_type_is_read<std::int16_t>("<i2", {-32768, 5});
  expect_type_is_read<std::int32_t>("<i4", {-7, 1 << 30});
  expect_type_is_read<std::int64_t>("<i8", {-7, std::int64_t{1} << 52});
  expect_type_is_read<std::uint8_t>("|u1", {255, 0});
  expect_type_is_read<std::uint16_t>("<u2", {65535, 0});
  expect_type_is_read<std::uint32_t>("=u4", {0xffffffff, 0});
  expect_type_is_read<std::uint64_t>("<u8", {std::uint64_t{1} << 63, 0});
  expect_type_is_read<std::uint8_t>("|b1", {1, 0});
}

TEST(Npy, ReadsBigEndianNumbers) {
  const std::string bytes("\x3f\xc0\x00\x00\xc0\x00\x00\x00", 8);  // 1.5 and -2 as >f4
  EXPECT_EQ(read_bytes(npy_bytes(npy_dictionary(">f4", "(2,)"), bytes)).values, (Values{1.5, -2}));
}

TEST(Npy, TurnsFortranOrderIntoRowMajor) {
  const std::string columns = raw<double>({1, 4, 2, 5, 3, 6});
  const NpyArray array = read_bytes(npy_bytes(npy_dictionary("<f8", "(2, 3)", "True"), columns));
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  EXPECT_EQ(array.values, (Values{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, TurnsFortranOrderOfThreeDimensionsIntoRowMajor) {
  // Element (i, j, k) of a 2 x 3 x 4 array holds 100 i + 10 j + k; the first index runs fastest.
  std::vector<float> fortran;
  Values expected;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) fortran.push_back(static_cast<float>(100 * i + 10 * j + k));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(100 * i + 10 * j + k);
  const std::string bytes = npy_bytes(npy_dictionary("<f4", "(2, 3, 4)", "True"), raw(fortran));
  EXPECT_EQ(read_bytes(bytes).values, expected);
}

// Element (i, j) holds 10 i + j in both orders; a share of it, then a piece of a share.
TEST(Npy, ReadsSharesOfTheRowsInEitherOrder) {
  const TemporaryFolder folder;
  std::vector<float> rows, columns;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 2; ++j) rows.push_back(static_cast<float>(10 * i + j));
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 7; ++i) columns.push_back(static_cast<float>(10 * i + j));
  for (const auto& [fortran, numbers] : {std::pair("False", rows), std::pair("True", columns)}) {
    const std::string path =
        folder.make("a.npy", npy_bytes(npy_dictionary("<f4", "(7, 2)", fortran), raw(numbers)));
    const NpyArray second = read_npy(path, {1, 3});
    EXPECT_EQ(second.shape, (Shape{2, 2}));
    EXPECT_EQ(second.values, (Values{30, 31, 40, 41}));
    EXPECT_EQ(second.first_row, 3u);
    const NpyArray piece = read_npy(path, {.index = 0, .count = 2, .skip = 1, .most = 2});
    EXPECT_EQ(piece.values, (Values{10, 11, 20, 21}));
    EXPECT_EQ(piece.first_row, 1u);
    EXPECT_EQ(read_npy(path, {0, 2, 3, 5}).values, (Values{30, 31})) << "the share ends there";
    EXPECT_EQ(read_npy(path, {0, 2, 5, 5}).shape, (Shape{0, 2})) << "nothing is left";
  }
}

TEST(Npy, ReadsVersionsTwoAndThree) {
  for (const char version : {'\2', '\3'}) {
    const std::string bytes = npy_bytes(npy_dictionary("<f4", "(1,)"), raw<float>({2.5F}), version);
    EXPECT_EQ(read_bytes(bytes).values, Values{2.5});
  }
}

TEST(Npy, ReadsAScalarAndAnEmptyArray) {
  const NpyArray scalar = read_bytes(npy_bytes(npy_dictionary("<f4", "()"), raw<float>({3})));
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(scalar.values, Values{3});
  const NpyArray empty = read_bytes(npy_bytes(npy_dictionary("<f4", "(0, 2)", "True"), ""));
  EXPECT_EQ(empty.shape, (Shape{0, 2}));
  EXPECT_TRUE(empty.values.empty());
}

TEST(Npy, TakesTheDictionaryInAnyOrderAndSpacing) {
  const std::string dictionary =
      "{ \"shape\":(2,),'fortran_order' :False, 'descr': \"<f4\" }            \n";
  EXPECT_EQ(read_bytes(npy_bytes(dictionary, raw<float>({1, 2}))).values, (Values{1, 2}));
}

TEST(Npy, RefusesPickledObjects) {
  const std::string message = refusal(npy_bytes(npy_dictionary("|O", "(1,)"), "\x80\x03K\x01."));
  EXPECT_NE(message.find("pickled Python objects"), std::string::npos) << message;
}

TEST(Npy, RefusesABarePickle) {
  const std::string message = refusal(std::string("\x80\x04\x95\x05\x00", 5) + "rest of a pickle");
  EXPECT_NE(message.find("is not a .npy file"), std::string::npos) << message;
}

TEST(Npy, RefusesTypesThatAreNoPlainNumbers) {
  const std::vector<std::pair<std::string, std::string>> types = {
      {"<U3", "text"},           {"|S8", "text"},       {"<c8", "complex"},     {"<c16", "complex"},
      {"<f2", "half-precision"}, {"|V8", "structures"}, {"<M8[ns]", "unknown"}, {"<f16", "unknown"},
      {"<i3", "unknown"},        {"|f4", "unknown"},    {"f4", "unknown"},      {"", "unknown"},
      {"<b2", "unknown"}};
  for (const auto& [type, named] : types) {
    const std::string message = refusal(npy_bytes(npy_dictionary(type, "(1,)"), "12345678"));
    EXPECT_NE(message.find(named), std::string::npos) << type << ": " << message;
  }
}

TEST(Npy, RefusesStructures) {
  const std::string message = refusal(npy_bytes(
      "{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (1,), }\n",
      "12345678"));
  EXPECT_NE(message.find("structures"), std::string::npos) << message;
}

TEST(Npy, RefusesATruncatedFile) {
  const std::string message = refusal(npy_bytes(npy_dictionary("<f4", "(3,)"), "12345678"));
  EXPECT_NE(message.find("is truncated: its header announces 12 bytes of numbers, 8 are there"),
            std::string::npos)
      << message;
}

TEST(Npy, RefusesTrailingBytes) {
  const std::string message = refusal(npy_bytes(npy_dictionary("<f4", "(1,)"), "12345678"));
  EXPECT_NE(message.find("goes on after its last number"), std::string::npos) << message;
}

TEST(Npy, RefusesAFileCutAnywhereInItsHeader) {
  const std::string whole = npy_bytes(npy_dictionary("<f4", "(1,)"), "");
  for (std::size_t length = 0; length < whole.size(); ++length) refusal(whole.substr(0, length));
}

TEST(Npy, RefusesShapesThatOverflow) {
  for (const char* shape :
       {"(18446744073709551615,)", "(18446744073709551616,)", "(4294967296, 4294967296)",
        "(4611686018427387904, 4)", "(9223372036854775808, 2, 0)"}) {
    const std::string message = refusal(npy_bytes(npy_dictionary("<f8", shape), "12345678"));
    EXPECT_NE(message.find("broken .npy header"), std::string::npos) << message;
  }
}

TEST(Npy, RefusesTooManyDimensions) {
  std::string shape = "(";
  for (int i = 0; i < 33; ++i) shape += "1, ";
  refusal(npy_bytes(npy_dictionary("<f4", shape + ")"), "1234"));
}

TEST(Npy, RefusesUnknownVersions) {
  for (const char version : {'\0', '\4'}) {
    const std::string message = refusal(npy_bytes(npy_dictionary("<f4", "(1,)"), "1234", version));
    EXPECT_NE(message.find("unknown .npy version"), std::string::npos) << message;
  }
}

TEST(Npy, RefusesBrokenDictionaries) {
  for (const char* dictionary :
       {"", "{", "{}", "[]", "{'descr': '<f4'}", "{'descr: '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} 'more'",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'extra': 1, 'fortran_order': False, 'shape': (1,)}"}) {
    const std::string message = refusal(npy_bytes(dictionary, "1234"));
    EXPECT_NE(message.find("broken .npy header"), std::string::npos) << dictionary << message;
  }
}

TEST(Npy, MasksControlCharactersInMessages) {
  const std::string message = refusal(npy_bytes(npy_dictionary("<\x1b[31m\n", "(1,)"), "1234"));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(Npy, NamesAMissingFile) {
  const TemporaryFolder folder;
  const std::string message = message_of<DataError>([&] { read_npy(folder.file("a.npy")); });
  EXPECT_NE(message.find("No such file"), std::string::npos) << message;
}

TEST(WriteNpy, IsReadBackWithItsShape) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npy");
  const std::vector<float> values = {1.5F, -2, 3, 0.1F, std::numeric_limits<float>::max(), 0};
  for (const Shape& shape : {Shape{6}, Shape{2, 3}, Shape{1, 2, 3}, Shape{6, 1}}) {
    write_npy(path, values, shape);
    const NpyArray array = read_npy(path);
    EXPECT_EQ(array.shape, shape);
    EXPECT_EQ(array.values, Values(values.begin(), values.end()));
  }
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteNpy, WritesDoublesAsSinglePrecision) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npy");
  write_npy(path, std::vector<double>{0.1}, {});
  EXPECT_EQ(read_npy(path).values, Values{static_cast<double>(0.1F)});
}

// numpy.save of np.array([[1, 2]], dtype='<f4'): the format's own example of version 1.0.
TEST(WriteNpy, WritesTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npy");
  write_npy(path, std::vector<float>{1, 2}, {1, 2});
  const std::string bytes = read_file(path);
  std::string expected = "\x93NUMPY";
  expected += '\x01';
  expected += '\0';
  expected += '\x76';
  expected += '\0';
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  expected.resize(127, ' ');
  expected += '\n';
  expected += raw<float>({1, 2});
  EXPECT_EQ(bytes, expected);
}

TEST(WriteNpy, RefusesAShapeOfAnotherSize) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_npy(folder.file("a.npy"), std::vector<float>{1, 2}, {3}), Error);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(WriteNpy, NamesAPlaceThatCannotBeWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.file("missing/a.npy");
  const std::string message =
      message_of<StorageError>([&] { write_npy(path, std::vector<float>{1}, {1}); });
  EXPECT_NE(message.find(path), std::string::npos);
  EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
}

}  // namespace
}  // namespace sagips::core
