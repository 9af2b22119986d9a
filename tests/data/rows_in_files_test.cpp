// Rows that stay in their files: every format gives the same ones, in any order, and what changes under
// a run is named.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/data/example_stream.hpp"
#include "sagips/data/examples.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/mutator.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/data/all_rows.hpp"
#include "tests/record/full_disk.hpp"

namespace sagips::data {
namespace {

using sagips::testing::message_of;
using sagips::testing::TemporaryFolder;

// How an HDF5 file keeps an array.
enum class Kept { together, in_packed_chunks };

void write_hdf5(const std::string& file, const std::string& dataset,
                const std::vector<hsize_t>& sizes, hid_t type, const std::vector<float>& values,
                Kept kept = Kept::together) {
  const hid_t id = std::filesystem::exists(file)
                       ? H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                       : H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (kept == Kept::in_packed_chunks) {
    std::vector<hsize_t> chunk = sizes;
    chunk[0] = std::min<hsize_t>(3, sizes[0]);
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(creation, 4);
  }
  const hid_t set = H5Dcreate2(id, dataset.c_str(), type, space, links, creation, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set);
  H5Pclose(creation);
  H5Pclose(links);
  H5Sclose(space);
  H5Fclose(id);
}

// Whole numbers below 256, so that every type holds them.
std::vector<float> some_numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((7 * i + i / 31) % 251);
  return values;
}

std::string npy(const std::string& type, const std::vector<float>& values,
                const std::vector<std::size_t>& shape) {
  std::string content = core::npy_header_bytes(shape, type.c_str());
  for (const float value : values) {
    std::string bytes;
    const auto add = [&](auto number) {
      bytes.assign(reinterpret_cast<const char*>(&number), sizeof number);
    };
    if (type[1] == 'f' && type[2] == '8') add(static_cast<double>(value));
    if (type[1] == 'f' && type[2] == '4') add(value);
    if (type[1] == 'u') add(static_cast<std::uint8_t>(value));
    if (type[1] == 'i') add(static_cast<std::int16_t>(value));
    if (type[0] == '>') std::reverse(bytes.begin(), bytes.end());
    content += bytes;
  }
  return content;
}

torch::Tensor in_any_order(std::int64_t rows) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  order.push_back(order.front());  // twice
  return torch::tensor(order);
}

Reading with_cache(const TemporaryFolder& folder, std::uint64_t memory_bytes) {
  Reading reading;
  reading.memory_bytes = memory_bytes;
  reading.cache = std::make_shared<FileCache>(FileCacheConfig{.folder = folder.file("cache")});
  return reading;
}

TEST(RowsInFiles, EveryFormatGivesTheSameRowsInAnyOrder) {
  const TemporaryFolder folder;
  const std::vector<float> values = some_numbers(66);
  const torch::Tensor wanted = torch::tensor(values).reshape({11, 2, 3});
  std::vector<ArraySource> sources;
  const auto keep = [&](const std::string& name, const std::string& content) {
    sources.push_back({.file = {folder.make(name, content)}});
  };
  int number = 0;
  for (const char* type : {"<f4", ">f4", "<f8", ">f8", "|u1", "<i2", ">i2"})
    keep(std::to_string(++number) + ".npy", npy(type, values, {11, 2, 3}));
  std::string idx("\0\0\x08\x03\0\0\0\x0b\0\0\0\x02\0\0\0\x03", 16), csv;
  for (std::size_t i = 0; i < values.size(); ++i) {
    idx += static_cast<char>(static_cast<unsigned char>(values[i]));
    csv += std::to_string(static_cast<int>(values[i])) + (i % 6 == 5 ? "\n" : ",");
  }
  keep("images", idx);
  keep("table.csv", csv);
  const gzFile packed = gzopen(folder.file("table.csv.gz").c_str(), "wb");
  gzwrite(packed, csv.data(), static_cast<unsigned>(csv.size()));
  gzclose(packed);
  sources.push_back({.file = {folder.file("table.csv.gz")}});
  for (const Kept kept : {Kept::together, Kept::in_packed_chunks})
    for (const hid_t type : {H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_U8LE, H5T_STD_I32BE}) {
      const std::string file = folder.file("x" + std::to_string(++number) + ".h5");
      write_hdf5(file, "deep/images", {11, 2, 3}, type, values, kept);
      sources.push_back({.file = {file}, .hdf5_dataset = "deep/images"});
    }
  const torch::Tensor order = in_any_order(11);
  for (ArraySource source : sources)
    for (const std::uint64_t memory : {std::uint64_t{1} << 30U, std::uint64_t{0}}) {
      source.shape = {2, 3};
      const ArrayRows rows(source, with_cache(folder, memory));
      EXPECT_EQ(rows.rows(), 11) << source.file[0];
      EXPECT_TRUE(rows.read(order).equal(wanted.index_select(0, order)))
          << source.file[0] << ", " << memory << " bytes held";
      EXPECT_TRUE(testing::all_of(rows).equal(wanted)) << source.file[0];
    }
}

TEST(RowsInFiles, ListsAndPatternsAreOneArrayInTheirOrder) {
  const TemporaryFolder folder;
  const std::vector<float> values = some_numbers(27);
  const torch::Tensor wanted = torch::tensor(values).reshape({9, 3});
  const auto piece = [&](std::size_t first, std::size_t rows) {
    return std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(3 * first),
                              values.begin() + static_cast<std::ptrdiff_t>(3 * (first + rows)));
  };
  folder.make("part_1.npy", npy("<f4", piece(0, 4), {4, 3}));
  folder.make("part_2.npy", npy("<f8", piece(4, 1), {1, 3}));
  folder.make("part_3.npy", npy("<f4", piece(5, 4), {4, 3}));
  folder.make("all.txt", "# in any format\npart_1.npy\n\n  part_2.npy\npart_3.npy\n");
  const std::vector<std::vector<std::string>> ways = {
      {folder.file("part_*.npy")},
      {folder.file("all.txt")},
      {folder.file("part_1.npy"), folder.file("part_[23].npy")}};
  const torch::Tensor order = in_any_order(9);
  for (const auto& files : ways) {
    const ArrayRows rows({.file = files}, {});
    EXPECT_TRUE(rows.read(order).equal(wanted.index_select(0, order)));
    EXPECT_TRUE(
        rows.files_of_rows().equal(torch::tensor({0, 0, 0, 0, 1, 2, 2, 2, 2}, torch::kInt64)));
    EXPECT_TRUE(ArrayRows({.file = files, .columns = {"2", "0"}}, {})
                    .read(order)
                    .equal(wanted.index_select(0, order).index_select(1, torch::tensor({2, 0}))));
  }
}

TEST(RowsInFiles, RowsAreCutReorderedAndScaled) {
  const TemporaryFolder folder;
  const std::vector<float> values = some_numbers(120);
  const torch::Tensor wanted = torch::tensor(values).reshape({5, 4, 6});
  const std::string file = folder.make("jets.npy", npy("<f4", values, {5, 4, 6}));
  const auto read = [&](ArraySource source) {
    source.file = {file};
    return testing::read_array(source);
  };
  EXPECT_TRUE(read({.select = "0:3, -2:"}).equal(wanted.slice(1, 0, 3).slice(2, 4)));
  EXPECT_TRUE(read({.select = ":, 1"}).equal(wanted.select(2, 1)));
  EXPECT_TRUE(read({.select = "-1"}).equal(wanted.select(1, 3)));
  EXPECT_TRUE(read({.select = "-100:, :100"}).equal(wanted));
  EXPECT_TRUE(read({.reorder = {1, 0}}).equal(wanted.transpose(1, 2)));
  EXPECT_TRUE(read({.select = "1:", .reorder = {1, 0}, .divide_by = 4})
                  .equal(wanted.slice(1, 1).transpose(1, 2) / 4));
  EXPECT_TRUE(
      read({.shape = {2, 12}, .select = "1"}).equal(wanted.reshape({5, 2, 12}).select(1, 1)));
  const auto says = [&](const ArraySource& source, const char* words) {
    const std::string said = message_of<core::DataError>([&] { read(source); });
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  says({.select = "9:"}, "leaves none of them");
  says({.select = "7"}, "leaves none of them");
  says({.select = "-9"}, "leaves none of them");
  says({.select = "0:x"}, "cannot be cut");
  says({.select = "1.5"}, "cannot be cut");
  says({.select = "0:1:2"}, "cannot be cut");
  says({.select = "0:1,"}, "cannot be cut");
  says({.select = ":, :, :"}, "fewer than 'select");
  says({.reorder = {0, 0}}, "does not name each of them once");
}

TEST(RowsInFiles, ArraysOfAGroupFollowEachOtherByName) {
  const TemporaryFolder folder;
  const std::string file = folder.file("groups.h5");
  const std::vector<float> tracks = some_numbers(24), energy = some_numbers(4);
  write_hdf5(file, "features/tracks", {4, 2, 3}, H5T_IEEE_F32LE, tracks);
  write_hdf5(file, "features/energy", {4}, H5T_IEEE_F32LE, energy);
  write_hdf5(file, "short/a", {4, 1}, H5T_IEEE_F32LE, energy);
  write_hdf5(file, "short/b", {3, 1}, H5T_IEEE_F32LE, {1, 2, 3});
  write_hdf5(file, "empty/x", {1}, H5T_IEEE_F32LE, {1});
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(id, "empty/x", H5P_DEFAULT);
  H5Fclose(id);
  const ArrayRows rows({.file = {file}, .hdf5_dataset = "features"}, {});
  EXPECT_TRUE(testing::all_of(rows).equal(torch::cat(
      {torch::tensor(energy).reshape({4, 1}), torch::tensor(tracks).reshape({4, 6})}, 1)));
  const auto says = [&](const std::string& dataset, const char* words) {
    const std::string said = message_of<core::DataError>(
        [&] { ArrayRows({.file = {file}, .hdf5_dataset = dataset}, {}); });
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  says("short", "has 3 rows of 'short/b'");
  says("empty", "the group 'empty' holds no data sets");
}

// Their numbers lie in another file, at a place that this one has as well.
TEST(RowsInFiles, LinksToOtherFilesAreFollowed) {
  const TemporaryFolder folder;
  write_hdf5(folder.file("part.h5"), "x", {4, 2}, H5T_IEEE_F32LE, some_numbers(8));
  write_hdf5(folder.file("all.h5"), "y", {4, 2}, H5T_IEEE_F32LE, std::vector<float>(8, 7));
  const hid_t id = H5Fopen(folder.file("all.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lcreate_external(folder.file("part.h5").c_str(), "x", id, "x", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(id);
  for (const std::uint64_t memory : {std::uint64_t{1} << 30U, std::uint64_t{0}}) {
    const ArrayRows rows({.file = {folder.file("all.h5")}, .hdf5_dataset = "x"},
                         with_cache(folder, memory));
    EXPECT_TRUE(testing::all_of(rows).equal(torch::tensor(some_numbers(8)).reshape({4, 2})))
        << memory;
  }
}

TEST(RowsInFiles, CopiesThatAreReadAreNotRemoved) {
  const TemporaryFolder folder;
  ExampleFiles files;
  files.cache = {.folder = folder.file("cache"), .limit_GB = 20e-6};
  files.memory_GB = 0;
  const auto load = [&](const std::string& name) {
    std::string table;
    for (int i = 0; i < 3000; ++i) table += std::to_string(i) + "\n";  // 12 kB unpacked
    files.inputs = files.targets = {.file = {folder.make(name, table)}};
    return files.load().training;
  };
  {
    const ExampleRowsPtr rows = load("a.csv");
    EXPECT_NE(message_of<core::ConfigError>([&] { load("b.csv"); }).find("limit_GB"),
              std::string::npos);
    EXPECT_EQ(rows->read(torch::tensor({2999}, torch::kInt64)).inputs.item<float>(), 2999);
  }
  EXPECT_EQ(load("b.csv")->rows(), 3000) << "nobody uses the other one any more";
}

TEST(RowsInFiles, WhatDoesNotFitTogetherIsNamedBeforeTheFirstRow) {
  const TemporaryFolder folder;
  folder.make("a.npy", npy("<f4", some_numbers(6), {2, 3}));
  folder.make("b.npy", npy("<f4", some_numbers(8), {2, 4}));
  folder.make("empty.txt", "# nothing\n");
  folder.make("missing.txt", "a.npy\nnowhere.npy\n");
  folder.make("cut.npy", npy("<f4", some_numbers(6), {2, 3}).substr(0, 140));
  write_hdf5(folder.file("cut.h5"), "x", {1000, 4}, H5T_IEEE_F32LE, some_numbers(4000));
  std::filesystem::resize_file(folder.file("cut.h5"), 9000);
  const auto says = [&](std::vector<std::string> names, const char* words) {
    for (std::string& name : names)
      if (name.find("://") == std::string::npos) name = folder.file(name);
    const std::string said = message_of<core::DataError>(
        [&] { testing::read_array({.file = names, .hdf5_dataset = "x"}); });
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  folder.make("a.csv", "x,y\n1,2\n");
  folder.make("b.csv", "y,x\n1,2\n");
  folder.make("itself.txt", "itself.txt\n");
  says({"a.npy", "b.npy"}, "b.npy: has rows of 4");
  says({"a.csv", "b.csv"}, "b.csv: has other columns than");
  says({"itself.txt"}, "is no idx file");
  says({"c*.csv"}, "fits no file");
  says({"empty.txt"}, "names no file");
  says({"missing.txt"}, "nowhere.npy");
  says({"cut.npy"}, "is truncated");
  says({"cut.h5"}, "broken or truncated");
  says({"s3://bucket/a.npy"}, "data.cache.copy");
}

TEST(RowsInFiles, WhatIsUnpackedToAFullDiskIsNamedAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::vector<float> values = some_numbers(40'000);
  std::string table;
  for (const float value : values) table += std::to_string(static_cast<int>(value)) + "\n";
  folder.make("x.csv", table);
  write_hdf5(folder.file("x.h5"), "x", {1000, 40}, H5T_IEEE_F32LE, values, Kept::in_packed_chunks);
  for (const std::string name : {"x.csv", "x.h5"}) {
    const ArraySource source{.file = {folder.file(name)}, .hdf5_dataset = "x"};
    {
      const sagips::testing::FullDisk disk(100'000);  // 160 kB are needed
      const std::string said =
          message_of<core::ConfigError>([&] { ArrayRows(source, with_cache(folder, 0)); });
      EXPECT_NE(said.find("data.cache.folder: '" + folder.file("cache") + "' has no room for '" +
                          folder.file(name) + "' (File too large)"),
                std::string::npos)
          << said;
    }
    for (const auto& left : std::filesystem::directory_iterator(folder.file("cache")))
      EXPECT_EQ(left.path().filename(), "lock");
  }
  for (const std::string name : {"x.csv", "x.h5"})
    EXPECT_TRUE(testing::all_of(ArrayRows({.file = {folder.file(name)}, .hdf5_dataset = "x"},
                                          with_cache(folder, 0)))
                    .flatten()
                    .equal(torch::tensor(values)));
}

TEST(RowsInFiles, AFileThatChangesUnderARunIsNamed) {
  const TemporaryFolder folder;
  const std::string content = npy("<f4", some_numbers(12), {4, 3});
  const torch::Tensor numbers = torch::tensor({2, 3}, torch::kInt64);
  const auto says = [&](const std::function<void(const std::string&)>& change, const char* words) {
    std::filesystem::remove(folder.file("a.npy"));
    const std::string path = folder.make("a.npy", content);
    const ArrayRows rows({.file = {path}}, {});
    EXPECT_EQ(rows.read(numbers).size(0), 2);
    change(path);
    const std::string said = message_of<core::DataError>([&] { rows.read(numbers); });
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  says([](const std::string& path) { std::filesystem::remove(path); }, "a.npy: was removed");
  says(
      [](const std::string& path) {
        std::filesystem::last_write_time(
            path, std::filesystem::last_write_time(path) + std::chrono::seconds(5));
      },
      "a.npy: was written to");
  says([](const std::string& path) { std::filesystem::resize_file(path, 140); },
       "has become shorter");
  const ArrayRows broken(
      {.file = {folder.make("nan.npy", npy("<f4", {1, 2, 3, NAN, 5, 6}, {3, 2}))}}, {});
  const std::string said = message_of<core::DataError>([&] {
    broken.read(torch::tensor({2, 1}, torch::kInt64));
  });
  EXPECT_NE(said.find("row 2 holds NaN or infinity"), std::string::npos) << said;
}

TEST(RowsInFiles, MoreFilesThanMayBeOpenAreReadInAnyOrder) {
  const TemporaryFolder folder;
  constexpr std::size_t files = 200;
  for (std::size_t i = 0; i < files; ++i)
    folder.make("part_" + std::to_string(1000 + i) + ".npy",
                npy("<i2", {static_cast<float>(i)}, {1, 1}));
  rlimit usual{};
  getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit few{100, usual.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  const Reading reading;  // arrays of a data set share what is open
  const ArrayRows rows({.file = {folder.file("part_*.npy")}}, reading),
      others({.file = {folder.file("part_*.npy")}}, reading);
  const torch::Tensor order = in_any_order(files);
  for (const ArrayRows* array : {&rows, &others})
    EXPECT_TRUE(array->read(order).flatten().equal(order.to(torch::kFloat32)));
  setrlimit(RLIMIT_NOFILE, &usual);
}

// SAGIPS_FUZZ_SECONDS=600 goes on for that long with each format, and tries HDF5, too, whose library (1.10)
// itself reads beyond its memory for some broken chunks.
TEST(RowsInFiles, BrokenFilesGiveRowsOrOneLine) {
  const TemporaryFolder folder;
  const char* const seconds = std::getenv("SAGIPS_FUZZ_SECONDS");
  const std::vector<float> values = some_numbers(40);
  const auto bytes_of = [&](Kept kept) {
    const std::string file = folder.file("whole.h5");
    std::filesystem::remove(file);
    write_hdf5(file, "x", {10, 4}, H5T_IEEE_F32LE, values, kept);
    return core::read_file(file);
  };
  std::string table = "a,b\n";
  for (int i = 0; i < 20; ++i) table += std::to_string(0.25 * i) + ",-1e-3\n";
  const gzFile packed = gzopen(folder.file("table.csv.gz").c_str(), "wb");
  gzwrite(packed, table.data(), static_cast<unsigned>(table.size()));
  gzclose(packed);
  const std::vector<std::pair<std::string, std::string>> originals = {
      {"x.npy", npy("<f4", values, {10, 4})},
      {"x.idx", std::string("\0\0\x08\x02\0\0\0\x04\0\0\0\x02\1\2\3\4\5\6\7\x08", 20)},
      {"x.csv", table},
      {"x.csv.gz", core::read_file(folder.file("table.csv.gz"))},
      {"x.h5", bytes_of(Kept::together)},
      {"x.hdf5", bytes_of(Kept::in_packed_chunks)}};
  for (const auto& [name, original] : originals) {
    if (!seconds && (name == "x.h5" || name == "x.hdf5")) continue;
    sagips::testing::Mutator mutate(
        1, std::string("(),'<>0123456789fiu-eE.\n\x00\xff\x01\x08\x93", 28));
    std::size_t rows_read = 0, refused = 0;
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::seconds(seconds ? std::stoi(seconds) : 0);
    for (int i = 0; i < 300 || std::chrono::steady_clock::now() < until; ++i) {
      const std::string file = folder.make(name, mutate(original));
      try {
        const ArrayRows rows({.file = {file}, .hdf5_dataset = "x"},
                             with_cache(folder, i % 2 == 0 ? 1U << 20U : 0U));
        ASSERT_TRUE(torch::isfinite(testing::all_of(rows)).all().item<bool>());
        ++rows_read;
      } catch (const core::Error& error) {
        ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        ++refused;
      }
    }
    EXPECT_GT(rows_read, name == "x.csv.gz" ? 0U : 10U)
        << name << " (packed files hold a checksum)";
    EXPECT_GT(refused, 10U) << name;
  }
}

TEST(RowSelection, FindsTheRowsThatAreChosen) {
  std::mt19937 random(5);
  for (const std::int64_t rows : {1, 63, 64, 65, 4096, 4097, 30000})
    for (const double share : {0.001, 0.5, 1.0}) {
      std::vector<std::int64_t> wanted;
      std::vector<char> is_chosen(static_cast<std::size_t>(rows));
      for (std::int64_t row = 0; row < rows; ++row)
        if (std::bernoulli_distribution(share)(random)) {
          is_chosen[static_cast<std::size_t>(row)] = 1;
          wanted.push_back(row);
        }
      const RowSelection selection(
          rows, [&](std::int64_t row) { return is_chosen[static_cast<std::size_t>(row)] != 0; });
      ASSERT_EQ(selection.count(), static_cast<std::int64_t>(wanted.size()));
      EXPECT_TRUE(selection.rows_of(torch::arange(selection.count(), torch::kInt64))
                      .equal(torch::tensor(wanted, torch::kInt64)));
    }
}

// Two rows are parted with probability 2 * 15/50 * 35/49 = 0.4286 in each of 400 draws: 171.4 +- 9.9 of
// them. Beyond 4.5 standard errors lie 7e-6 of such counts, of three counts 2e-5.
TEST(RowSelection, PartsHaveTheirSizesAndAreDrawnAtRandom) {
  std::vector<int> parted(3);
  for (std::uint32_t draw = 1; draw <= 400; ++draw) {
    const core::RandomStream stream(1, "parts", draw);
    const RowSelection part = drawn_part({15, 35}, 0, stream);
    const RowSelection other = drawn_part({15, 35}, 1, stream);
    ASSERT_EQ(part.count(), 15);
    ASSERT_EQ(other.count(), 35);
    ASSERT_TRUE(std::get<0>(torch::cat({part.rows_of(torch::arange(15, torch::kInt64)),
                                        other.rows_of(torch::arange(35, torch::kInt64))})
                                .sort())
                    .equal(torch::arange(50, torch::kInt64)));
    parted[0] += part.holds(0) != part.holds(1) ? 1 : 0;
    parted[1] += part.holds(48) != part.holds(49) ? 1 : 0;
    parted[2] += part.holds(0) != part.holds(49) ? 1 : 0;
  }
  for (const int count : parted) EXPECT_NEAR(count, 171.4, 4.5 * 9.9);
}

TEST(ExampleFiles, RowsOfAFileOrOfAColumnsValueStayTogether) {
  const TemporaryFolder folder;
  std::string all = "x,run,y\n";
  for (int i = 0; i < 60; ++i) {
    const std::string line =
        std::to_string(i) + "," + std::to_string(i % 6) + "," + std::to_string(i % 2) + "\n";
    all += line;
    std::ofstream(folder.file("part_" + std::to_string(i / 10) + ".csv"), std::ios::app) << line;
  }
  ExampleFiles by_column;
  by_column.inputs.file = {folder.make("all.csv", all)};
  folder.make("list.txt", "all.csv\n");  // the same file by another name
  by_column.targets = {.file = {folder.file("list.txt")}, .columns = {"y"}};
  by_column.split_by = "run";
  by_column.cache.folder = folder.file("cache");
  ExampleFiles by_file = by_column;
  by_file.inputs = {.file = {folder.file("part_*.csv")}, .columns = {"0"}};
  by_file.targets = {.file = {folder.file("part_*.csv")}, .columns = {"2"}};
  by_file.split_by = "files";
  for (const ExampleFiles& files : {by_column, by_file}) {
    std::vector<torch::Tensor> aside;
    for (int fold = 1; fold <= 3; ++fold) {
      ExampleSets sets = files.load();
      ExampleSplit{.fold = std::to_string(fold) + "/3"}.apply(sets, core::RandomStream(1, "x"));
      EXPECT_EQ(sets.training->first(1).inputs.size(1), 1) << "the column of groups is no input";
      const torch::Tensor rows = testing::all_of(*sets.validation).inputs.flatten();
      const torch::Tensor groups =
          files.split_by == "run" ? rows.remainder(6) : rows.div(10).floor();
      EXPECT_EQ(rows.size(0), 20);
      EXPECT_EQ(std::get<0>(at::_unique(groups)).size(0), 2);
      aside.push_back(rows);
    }
    EXPECT_TRUE(std::get<0>(torch::cat(aside).sort()).equal(torch::arange(60, torch::kFloat32)));
  }
}

TEST(ExampleFiles, ValidationFilesAreApartOrJoined) {
  const TemporaryFolder folder;
  const std::string a = folder.make("a.npy", npy("<f4", some_numbers(20), {10, 2}));
  const std::string b = folder.make("b.npy", npy("<f4", some_numbers(8), {4, 2}));
  ExampleFiles files;
  files.inputs = {.file = {a}, .columns = {"0"}};
  files.targets = {.file = {a}, .columns = {"1"}};
  files.validation_inputs = {.file = {b}, .columns = {"0"}};
  files.validation_targets = {.file = {b}, .columns = {"1"}};
  files.cache.folder = folder.file("cache");
  ExampleSets sets = files.load();
  EXPECT_EQ(sets.training->rows(), 10);
  EXPECT_EQ(sets.validation->rows(), 4);
  files.join = true;
  sets = files.load();
  EXPECT_EQ(sets.training->rows(), 14);
  EXPECT_FALSE(sets.validation);
}

TEST(ExampleFiles, HeldAndReadAnewTheyAreTheSameRows) {
  const TemporaryFolder folder;
  ExampleFiles files;
  files.inputs = {.file = {folder.make("a.npy", npy("<f4", some_numbers(300), {100, 3}))},
                  .columns = {"0", "1"}};
  files.targets = {.file = files.inputs.file, .columns = {"2"}};
  files.weights = files.targets;
  files.cache.folder = folder.file("cache");
  ExampleSets held = files.load();
  files.memory_GB = 0;
  ExampleSets anew = files.load();
  ASSERT_TRUE(held.training->in_memory());
  ASSERT_FALSE(anew.training->in_memory());
  const ExampleSplit split{.fold = "2/3"};
  split.apply(held, core::RandomStream(1, "x"));
  split.apply(anew, core::RandomStream(1, "x"));
  for (const auto& [one, other] :
       {std::pair(held.training, anew.training), std::pair(held.validation, anew.validation)}) {
    const torch::Tensor order = in_any_order(one->rows());
    const Examples first = one->read(order), second = other->read(order);
    EXPECT_TRUE(first.inputs.equal(second.inputs));
    EXPECT_TRUE(first.targets.equal(second.targets));
    EXPECT_TRUE(first.weights.equal(second.weights));
  }
}

// 200 rows of one number that are read anew.
ExampleRowsPtr two_hundred(const TemporaryFolder& folder) {
  ExampleFiles files;
  files.inputs =
      files.targets = {.file = {folder.make("a.npy", npy("<i2", some_numbers(200), {200, 1}))}};
  files.cache.folder = folder.file("cache");
  files.memory_GB = 0;
  return files.load().training;
}

TEST(ExampleStream, GivesTheRowsOfAnyStepInAnyOrderOfAsking) {
  const TemporaryFolder folder;
  const ExampleRowsPtr rows = two_hundred(folder);
  const auto place = [](std::uint32_t step) {
    return ExampleStream::Place{(step - 1) / 10 + 1, std::int64_t{20} * ((step - 1) % 10), 20};
  };
  ExampleStream stream(rows, SamplePlan(200, 1), place, [](const Examples&) {});
  for (const std::uint32_t step : {1, 2, 3, 9, 10, 11, 4, 4, 5, 30, 1}) {
    const auto there = place(step);
    const torch::Tensor wanted =
        rows->read(SamplePlan(200, 1).rows_at(there.epoch, there.first, there.count)).inputs;
    EXPECT_TRUE(stream.at(step).inputs.equal(wanted)) << step;
  }
}

TEST(ExampleStream, SaysWhatFailsAtTheStepThatNeedsIt) {
  const TemporaryFolder folder;
  const auto place = [](std::uint32_t step) {
    return ExampleStream::Place{1, 2 * (std::int64_t{step} - 1), 2};
  };
  const ExampleRowsPtr rows = two_hundred(folder);
  ExampleStream stream(rows, SamplePlan(200, 1), place, [](const Examples& examples) {
    if (examples.inputs.eq(7).any().item<bool>()) throw core::ConfigError("data", "holds a 7.");
  });
  std::string said;
  std::uint32_t step = 0;
  while (said.empty() && step < 100) try {
      stream.at(++step);
    } catch (const core::Error& error) {
      said = error.what();
      EXPECT_EQ(error.exit_code(), core::ExitCode::failed);
      const auto there = place(step);
      const torch::Tensor numbers = SamplePlan(200, 1).rows_at(1, there.first, there.count);
      EXPECT_TRUE(rows->read(numbers).inputs.eq(7).any().item<bool>());
    }
  EXPECT_EQ(said, "data: holds a 7.");
  EXPECT_EQ(message_of<core::Error>([&] { stream.at(step); }), said) << "again";
}

}  // namespace
}  // namespace sagips::data
