#include "sagips/data/examples.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "tests/data/all_rows.hpp"

namespace sagips::data {
namespace {

/// A folder of one test.
class Arrays : public ::testing::Test {
 protected:
  Arrays() { std::filesystem::create_directories(folder_); }
  ~Arrays() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::string write_packed(const std::string& name, const std::string& content) const {
    const gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
    return path(name);
  }

 private:
  std::string folder_ = ::testing::TempDir() + "arrays_" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

torch::Tensor tensor_of(const std::vector<double>& values, torch::IntArrayRef shape) {
  return torch::tensor(values, torch::kFloat64).to(torch::kFloat32).reshape(shape);
}

// 2 x 3 whole numbers of one byte.
std::string idx() { return std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\1\2\3\4\5\xff", 18); }

TEST_F(Arrays, TablesHaveAHeaderOrNot) {
  const std::string named = write("named.csv", "a,b,label\n1,2,0\n3,4,1\n"),
                    plain = write_packed("plain.csv.gz", "1,2,0\n3,4,1\n");
  const torch::Tensor all = tensor_of({1, 2, 0, 3, 4, 1}, {2, 3});
  EXPECT_TRUE(testing::read_array({.file = {named}}).equal(all));
  EXPECT_TRUE(testing::read_array({.file = {plain}}).equal(all));
  EXPECT_TRUE(testing::read_array({.file = {named}, .columns = {"label"}})
                  .equal(tensor_of({0, 1}, {2, 1})));
  EXPECT_TRUE(testing::read_array({.file = {plain}, .columns = {"2", "0"}})
                  .equal(tensor_of({0, 1, 1, 3}, {2, 2})));
  EXPECT_TRUE(
      testing::read_array({.file = {named}}, {"label"}).equal(tensor_of({1, 2, 3, 4}, {2, 2})));
}

TEST_F(Arrays, ImagesOfEveryFormatAreTheSame) {
  const torch::Tensor image = tensor_of({1, 2, 3, 4, 5, 255}, {2, 3});
  EXPECT_TRUE(testing::read_array({.file = {write("images", idx())}}).equal(image));
  EXPECT_TRUE(testing::read_array({.file = {write_packed("images.gz", idx())}}).equal(image));
  const std::string npy = path("images.npy");
  core::write_npy(npy, std::vector<float>{1, 2, 3, 4, 5, 255}, {2, 3});
  EXPECT_TRUE(testing::read_array({.file = {npy}}).equal(image));
  EXPECT_TRUE(testing::read_array({.file = {npy}, .shape = {3, 1}, .divide_by = 2})
                  .equal(image.reshape({2, 3, 1}) / 2));
}

TEST_F(Arrays, Hdf5OfAnyRank) {
  const std::string file = path("images.h5");
  const hsize_t sizes[] = {2, 1, 2, 2};
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8};
  const hid_t id = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(4, sizes, nullptr);
  const hid_t set =
      H5Dcreate2(id, "images", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(id);
  EXPECT_TRUE(testing::read_array({.file = {file}, .hdf5_dataset = "images"})
                  .equal(torch::tensor(values).reshape({2, 1, 2, 2})));
  EXPECT_NE(refusal([&] { testing::read_array({.file = {file}}); }).find("it holds: images"),
            std::string::npos);
}

TEST_F(Arrays, WhatIsBrokenIsNamedWithItsPlace) {
  const auto says = [&](const ArraySource& source, const std::string& words) {
    const std::string said = refusal([&] { testing::read_array(source); });
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_NE(said.find(source.file[0]), std::string::npos) << said;
  };
  says({.file = {write("ragged.csv", "1,2\n3\n")}}, ":2: the row has 1 cell, those before it 2");
  says({.file = {write("words.csv", "1,2\n3,x\n")}}, "'x' in column 1 is no number");
  says({.file = {write("nan.csv", "1,2\n3,nan\n")}}, "row 2 holds NaN or infinity");
  says({.file = {write("empty.csv", "a,b\n")}}, "holds no rows");
  // a size of 0 hides that the others multiply to more than a number holds
  const std::string huge("\0\0\x08\x05\x70\0\0\0\x70\0\0\0\x70\0\0\0\x70\0\0\0\0\0\0\0", 24);
  says({.file = {write("huge", huge)}}, "holds no rows");
  says({.file = {write_packed("huge.gz", huge)}}, "holds no rows");
  constexpr std::size_t most = std::size_t{1} << 40U;
  says({.file = {write("huge.npy", core::npy_header_bytes({0, most, most}, "<f4"))}},
       "holds no rows");
  says({.file = {path("nowhere.csv")}}, "nowhere.csv");
  says({.file = {path("nowhere.gz")}}, "cannot be read");
  says({.file = {write("short.csv", "a,b\n1,2\n")}, .columns = {"c"}}, "'c'");
  says({.file = {write("idx", idx().substr(0, 17))}}, "announces 6 bytes of numbers and has 5");
  says({.file = {write("root", "x")}}, "is no idx file");
  says({.file = {write("shape.csv", "1,2\n")}, .shape = {3}}, "a row has 2 numbers, and 'shape'");
  const std::string packed = write_packed("cut.csv.gz", std::string(4000, '1') + ",2\n");
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) - 9);
  says({.file = {packed}}, "broken or truncated gzip file");
}

TEST_F(Arrays, AskForNumbersOnlyInColumnsThatAreTaken) {
  const std::string remarks = write("remarks.csv", "a,sample,chi2,b\n1,ttbar,,2\n3,ttbar,1.5,4\n");
  EXPECT_TRUE(testing::read_array({.file = {remarks}, .columns = {"b", "a"}})
                  .equal(tensor_of({2, 1, 4, 3}, {2, 2})));
  EXPECT_NE(refusal([&] {
              testing::read_array({.file = {remarks}, .columns = {"chi2"}});
            }).find(":2: '' in column 2 ('chi2') is no number"),
            std::string::npos);
  EXPECT_NE(refusal([&] { testing::read_array({.file = {remarks}}); }).find("'ttbar' in column 1"),
            std::string::npos);
}

// Seconds since 1970 within a minute: single precision has steps of 128 there.
TEST_F(Arrays, RefuseNumbersThatSinglePrecisionCannotTellApart) {
  std::string table = "t,y\n";
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) {
    times.push_back(1'700'000'000.0 + 0.6 * i);
    table += std::to_string(times.back()) + ",1\n";
  }
  const std::string csv = write("t.csv", table),
                    npy = write("t.npy", core::npy_bytes(times, {100, 1}));
  for (const std::string& file : {csv, npy})
    EXPECT_NE(refusal([&] { testing::read_array({.file = {file}}); }).find("steps of 130"),
              std::string::npos)
        << file;
  EXPECT_EQ(testing::read_array({.file = {csv}, .columns = {"y"}}).size(0),
            100);  // the other is not asked for
  const std::string hdf5 = path("t.h5");
  const hsize_t sizes[] = {100};
  const hid_t id = H5Fcreate(hdf5.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, sizes, nullptr);
  const hid_t set =
      H5Dcreate2(id, "t", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times.data());
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(id);
  EXPECT_NE(refusal([&] {
              testing::read_array({.file = {hdf5}, .hdf5_dataset = "t"});
            }).find("steps of 130"),
            std::string::npos);
}

// Run numbers of nine digits, which single precision rounds to 32, or words.
TEST_F(Arrays, GroupsAreExactNumbersOrText) {
  for (const std::string kind : {"number", "word"}) {
    std::string table = "x,run,y\n";
    for (int i = 0; i < 40; ++i)
      table +=
          std::to_string(i) + "," +
          (kind == "word" ? "run " + std::to_string(i / 4) : std::to_string(300'000'001 + i / 4)) +
          ",0\n";
    ExampleFiles files;
    files.inputs = {.file = {write(kind + ".csv", table)}, .columns = {"x"}};
    files.targets = {.file = files.inputs.file, .columns = {"y"}};
    files.split_by = "run";
    ExampleSets sets = files.load();
    EXPECT_EQ(std::get<0>(at::_unique(sets.groups)).size(0), 10) << kind;
    ExampleSplit{.held_out = 0.3}.apply(sets, core::RandomStream(1, "x"));
    EXPECT_EQ(sets.validation->rows(), 12) << kind;
  }
  ExampleFiles files;
  const std::string numbers = path("numbers.npy");
  core::write_npy(numbers, std::vector<double>{1, 1e16, 0, 2, 1e16, 0}, {2, 3});
  files.inputs = {.file = {numbers}, .columns = {"0"}};
  files.targets = {.file = {numbers}, .columns = {"2"}};
  files.split_by = "1";
  EXPECT_NE(refusal([&] { files.load(); }).find("not told apart"), std::string::npos);
}

TEST_F(Arrays, ListsMayBeginWithAMarkAndWarnOfAFileTwice) {
  write("a b, [1].csv", "1\n2\n");
  write("two\nlines.csv", "3\n4\n");
  ExampleFiles files;
  files.inputs.file = {write("list.txt",
                             "\xef\xbb\xbf"
                             "a b, [1].csv\r\n"),
                       path("two\nlines.csv")};
  files.targets.file = files.inputs.file;
  EXPECT_TRUE(files.load().warnings.empty());
  EXPECT_EQ(files.load().training->rows(), 4);
  files.inputs.file.push_back(path("a b, [1].csv"));
  files.targets.file = files.inputs.file;
  const std::vector<std::string> warnings = files.load().warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("a b, [1].csv is named twice"), std::string::npos);
}

ExampleSets rows(std::int64_t count) {
  const torch::Tensor numbers = torch::arange(count, torch::kFloat32);
  return {hold({numbers.unsqueeze(1), numbers})};
}

// What is not said of validation rows is as for the others, and columns go by their names.
TEST_F(Arrays, ValidationRowsAreReadAsTheOthers) {
  ExampleFiles files;
  const std::string named = write("named.csv", "a,b,label\n1,2,0\n3,4,1\n"),
                    turned = write("turned.csv", "label,b,more,a\n1,20,7,10\n");
  files.inputs = {.file = {named}, .divide_by = 10};
  files.targets = {.file = {named}, .columns = {"label"}};
  files.validation_inputs = {.file = {turned}};
  files.validation_targets = {.file = {turned}};
  const Examples found = testing::all_of(*files.load().validation);
  EXPECT_TRUE(torch::equal(found.inputs, tensor_of({1, 2}, {1, 2})));
  EXPECT_EQ(found.targets.item<float>(), 1);
  files.validation_inputs.divide_by = 1;
  EXPECT_TRUE(
      torch::equal(testing::all_of(*files.load().validation).inputs, tensor_of({10, 20}, {1, 2})));
  for (const std::string& file : {named, turned})  // also to be predicted for
    EXPECT_EQ(testing::all_of(*files.inputs_of({{"", file}})).inputs.size(1), 2) << file;
  EXPECT_TRUE(torch::equal(testing::all_of(*files.inputs_of({{"", turned}})).inputs,
                           tensor_of({1, 2}, {1, 2})));
  const std::string others = write("others.csv", "x,y\n1,2\n");
  EXPECT_NE(refusal([&] { files.inputs_of({{"", others}}); }).find("'a'"), std::string::npos);
  EXPECT_EQ(testing::all_of(*files.inputs_of({{"", write("plain.csv", "5,6\n")}})).inputs.size(0),
            1);
}

TEST_F(Arrays, RowsOfSeveralFilesBelongTogetherFileByFile) {
  ExampleFiles files;
  files.inputs.file = {write("x1.csv", "1\n2\n"), write("x2.csv", "3\n")};
  files.targets.file = {write("y2.csv", "3\n"), write("y1.csv", "1\n2\n")};
  EXPECT_NE(refusal([&] { files.load(); }).find("same order"), std::string::npos);
  std::swap(files.targets.file[0], files.targets.file[1]);
  EXPECT_EQ(files.load().training->rows(), 3);
}

TEST(ExampleSplit, FoldsKeepEachRowAsideOnce) {
  for (const std::int64_t count : {5, 7, 100}) {
    std::vector<torch::Tensor> aside;
    for (int fold = 1; fold <= 5; ++fold) {
      ExampleSets sets = rows(count);
      ExampleSplit{.fold = std::to_string(fold) + "/5"}.apply(sets, core::RandomStream(1, "x"));
      EXPECT_EQ(sets.training->rows() + sets.validation->rows(), count);
      const torch::Tensor both = torch::cat(
          {testing::all_of(*sets.training).targets, testing::all_of(*sets.validation).targets});
      EXPECT_TRUE(std::get<0>(both.sort()).equal(torch::arange(count, torch::kFloat32)));
      aside.push_back(testing::all_of(*sets.validation).targets);
    }
    EXPECT_TRUE(std::get<0>(torch::cat(aside).sort()).equal(torch::arange(count, torch::kFloat32)));
  }
}

TEST_F(Arrays, SeveralTensorsMakeARowByTheirNames) {
  const std::string images = path("images.npy"),
                    table = write("table.csv", "x,kind,y,far\n1,0,2,3\n4,1,5,6\n7,0,8,9\n"),
                    same = write("same.csv", "y,x,p\n1,2,0\n1,2,0\n1,2,0\n"),
                    short_one = write("short.csv", "x,y\n1,2\n");
  std::vector<float> pixels(12);
  std::iota(pixels.begin(), pixels.end(), 0.0F);
  core::write_npy(images, pixels, {3, 2, 2});
  ExampleFiles files;
  files.input_tensors = {{"image", {.file = {images}, .shape = {1, 2, 2}, .divide_by = 2}},
                         {"numbers", {.file = {table}}, false}};
  files.target_tensors = {{"kind", {.file = {table}, .columns = {"kind"}}},
                          {"far", {.file = {table}, .columns = {"far"}}}};
  const Examples all = testing::all_of(*files.load().training);
  EXPECT_EQ(all.input_tensors().written(), "image 1 x 2 x 2, numbers 2");
  EXPECT_EQ(all.target_tensors().written(), "kind 1, far 1");
  EXPECT_FALSE(all.input_tensors()[1].is_scaled);
  EXPECT_TRUE(torch::equal(all.inputs[1], tensor_of({2, 2.5, 3, 3.5, 4, 5}, {6})));
  EXPECT_TRUE(torch::equal(all.targets[2], tensor_of({0, 9}, {2})));
  const core::RowTensors inputs = all.input_tensors();
  EXPECT_TRUE(
      torch::equal(inputs.at("image").of(all.inputs)[0], tensor_of({0, 0.5, 1, 1.5}, {1, 2, 2})));
  files.memory_GB = 0;
  const ExampleRowsPtr streamed = files.load().training;
  ASSERT_FALSE(streamed->in_memory());
  const Examples some = streamed->read(torch::tensor({2, 0}, torch::kInt64));
  EXPECT_TRUE(torch::equal(some.inputs, all.inputs.index_select(0, torch::tensor({2, 0}))));
  EXPECT_EQ(some.input_tensors().written(), "image 1 x 2 x 2, numbers 2");
  files.memory_GB = 4;
  const Examples other = testing::all_of(*files.inputs_of({{"image", images}, {"numbers", same}}));
  EXPECT_TRUE(torch::equal(other.inputs[2], tensor_of({4, 4.5, 5, 5.5, 2, 1}, {6})));
  EXPECT_NE(refusal([&] {
              files.inputs_of({{"image", images}, {"numbers", short_one}});
            }).find("has 1 rows"),
            std::string::npos);
}

TEST_F(Arrays, RefuseNamesThatDoNotFit) {
  const std::string table = write("table.csv", "x,kind,y\n1,0,2\n4,1,5\n");
  ExampleFiles files;
  files.input_tensors = {{"a", {.file = {table}, .columns = {"x"}}},
                         {"b", {.file = {table}, .columns = {"y"}}}};
  files.targets = {.file = {table}, .columns = {"kind"}};
  EXPECT_EQ(files.load().training->rows(), 2);
  EXPECT_NE(refusal([&] { files.inputs_of({{"a", table}}); }).find("lacks 'b'"), std::string::npos);
  EXPECT_EQ(refusal([&] {
              files.inputs_of({{"a", table}, {"c", table}});
            }),
            "inputs.c: has no tensor of its name among those to learn from, which are: a, b. "
            "Rename it.");
  ExampleFiles unnamed = files;
  unnamed.input_tensors = {};
  unnamed.inputs = {.file = {table}, .columns = {"x"}};
  EXPECT_EQ(refusal([&] {
              unnamed.inputs_of({{"c", table}});
            }),
            "inputs.c: those to learn from have no names. Leave the name out.");
  ExampleFiles both = files;
  both.inputs.file = {table};
  EXPECT_NE(refusal([&] { both.load(); }).find("data.inputs.file: stands beside tensors"),
            std::string::npos);
  ExampleFiles empty = files;
  empty.input_tensors[1].source.file.clear();
  EXPECT_NE(refusal([&] { empty.load(); }).find("data.inputs.tensors.b.file: is empty"),
            std::string::npos);
  ExampleFiles target = files;
  target.input_tensors[0].source.columns = {"kind", "x"};
  EXPECT_NE(refusal([&] { target.load(); }).find("'kind' is a target, too"), std::string::npos);
  files.validation_input_tensors = {{"c", {.file = {table}}}};
  files.validation_targets.file = {table};
  EXPECT_NE(refusal([&] { files.load(); }).find("data.validation_inputs.tensors.c"),
            std::string::npos);
  files.validation_input_tensors.clear();
  files.validation_inputs.file = {table};
  EXPECT_EQ(files.load().validation->first(1).input_tensors().written(), "a 1, b 1");
}

TEST(ExampleSplit, RefusesWhatLeavesNothing) {
  const auto says = [](const ExampleSplit& split, std::int64_t count) {
    return refusal([&] {
      ExampleSets sets = rows(count);
      split.apply(sets, core::RandomStream(1, "x"));
    });
  };
  EXPECT_NE(says({.fold = "6/5"}, 10).find("is no part of several"), std::string::npos);
  EXPECT_NE(says({.fold = "2"}, 10).find("is no part of several"), std::string::npos);
  EXPECT_NE(says({.held_out = 0.01}, 10).find("10 rows leave none aside"), std::string::npos);
  EXPECT_NE(says({.held_out = 0.99}, 10).find("none to learn from"), std::string::npos);
}

TEST(ClassNumbers, FromNumbersOrOneAmongZeros) {
  const torch::Tensor wanted = torch::tensor({2, 0}, torch::kInt64);
  EXPECT_TRUE(class_numbers(tensor_of({2, 0}, {2}), "f").equal(wanted));
  EXPECT_TRUE(class_numbers(tensor_of({2, 0}, {2, 1}), "f").equal(wanted));
  EXPECT_TRUE(class_numbers(tensor_of({0, 0, 1, 1, 0, 0}, {2, 3}), "f").equal(wanted));
  EXPECT_NE(refusal([] {
              class_numbers(tensor_of({1, 0.5}, {2}), "f");
            }).find("row 2"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              class_numbers(tensor_of({1, 0, 1, 1}, {2, 2}), "f");
            }).find("row 2"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::data
