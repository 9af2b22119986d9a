#include "sagips/data/hdf5.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/file.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "sagips/core/file.hpp"
#include "tests/data/loading.hpp"

namespace sagips::data {
namespace {

using namespace sagips::testing;

/// Writes small HDF5 files through the C interface.
class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  ~Hdf5File() { H5Fclose(file_); }

  void group(const std::string& name) {
    H5Gclose(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  /// Null data leaves the data set unwritten.
  void add(const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
           const void* data) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t set =
        H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(set);
    H5Sclose(space);
  }
  void add(const std::string& name, const std::vector<hsize_t>& shape,
           const std::vector<double>& values) {
    add(name, H5T_NATIVE_DOUBLE, shape, values.data());
  }
  /// A data set whose numbers the data sets 'x' of other files hold, `rows` of them each.
  void gather(const std::string& name, const std::vector<std::string>& parts, hsize_t rows) {
    const hsize_t all = rows * parts.size();
    const hid_t whole = H5Screate_simple(1, &all, nullptr);
    const hid_t piece = H5Screate_simple(1, &rows, nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    for (hsize_t i = 0; i < parts.size(); ++i) {
      const hsize_t first = i * rows;
      H5Sselect_hyperslab(whole, H5S_SELECT_SET, &first, nullptr, &rows, nullptr);
      H5Pset_virtual(creation, whole, parts[i].c_str(), "x", piece);
    }
    H5Sselect_all(whole);
    H5Dclose(H5Dcreate2(file_, name.c_str(), H5T_NATIVE_DOUBLE, whole, H5P_DEFAULT, creation,
                        H5P_DEFAULT));
    H5Pclose(creation);
    H5Sclose(piece);
    H5Sclose(whole);
  }
  /// A name that leads to 'x' of another file.
  void link(const std::string& name, const std::string& file) {
    H5Lcreate_external(file.c_str(), "x", file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  }

 private:
  hid_t file_;
};

class Hdf5 : public ::testing::Test {
 protected:
  DatasetConfig config(const std::string& dataset, std::vector<std::string> columns = {}) const {
    DatasetConfig config = config_of(path, std::move(columns));
    config.hdf5_dataset = dataset;
    return config;
  }

  TemporaryFolder folder;
  std::string path = folder.file("a.hdf5");
};

TEST_F(Hdf5, ReadsArraysOfOneAndTwoDimensions) {
  {
    Hdf5File file(path);
    file.group("run");
    file.add("run/masses", {3}, {90, 91, 92});
    file.add("events", {2, 2}, {1, 2, 3, 4});
  }
  EXPECT_EQ(numbers(load_dataset(config("run/masses"), {}).values),
            (std::vector<float>{90, 91, 92}));
  const Dataset two = load_dataset(config("/events"), {"x", "y"});
  EXPECT_EQ(two.values.sizes(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(two.observables, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(numbers(load_dataset(config("events", {"1"}), {}).values), (std::vector<float>{2, 4}));
}

TEST_F(Hdf5, GivesEachRankItsShareOfTheRows) {
  {
    Hdf5File file(path);
    file.add("masses", {5}, {90, 91, 92, 93, 94});
    file.add("events", {3, 2}, {1, 2, 3, 4, 5, 6});
  }
  DatasetConfig masses = config("", {"masses"});
  masses.rows = {1, 2};
  EXPECT_EQ(numbers(load_dataset(masses, {}).values), (std::vector<float>{93, 94}));
  DatasetConfig events = config("events");
  events.rows = {2, 3};
  EXPECT_EQ(numbers(load_dataset(events, {}).values), (std::vector<float>{5, 6}));
}

TEST_F(Hdf5, ReadsManyRowsInPieces) {
  ManyRows rows;
  {
    Hdf5File file(path);
    const std::vector<float> all = rows.array();
    file.add("all", H5T_NATIVE_FLOAT, {ManyRows::count, 3}, all.data());
    file.add("number", H5T_NATIVE_FLOAT, {ManyRows::count}, rows.number.data());
    file.add("remainder", H5T_NATIVE_FLOAT, {ManyRows::count}, rows.remainder.data());
    file.add("weight", H5T_NATIVE_FLOAT, {ManyRows::count}, rows.weight.data());
    file.add("short", H5T_NATIVE_FLOAT, {1'000'000}, rows.number.data());
    rows.weight[1'100'000] = std::numeric_limits<float>::infinity();
    file.add("broken", H5T_NATIVE_FLOAT, {ManyRows::count}, rows.weight.data());
  }
  expect_many_rows(config("all"), "0", "1", "2");
  expect_many_rows(config(""), "number", "remainder", "weight");
  EXPECT_TRUE(data_refusal(config("", {"number", "broken"}))
                  .starts_with("1100001: column 'broken' holds inf"));
  EXPECT_EQ(data_refusal(config("", {"number", "short"})),
            " data set 'short' has 1000000 events, 'number' has 1200000. Columns must be of one "
            "length.");
}

TEST_F(Hdf5, ReadsWholeNumbersAndOtherByteOrders) {
  const std::vector<int> whole = {1, -2};
  const unsigned char big_endian[8] = {0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0};  // 1.5 and -2
  {
    Hdf5File file(path);
    file.add("whole", H5T_NATIVE_INT, {2}, whole.data());
    file.add("big", H5T_IEEE_F32BE, {2}, big_endian);
  }
  EXPECT_EQ(numbers(load_dataset(config("whole"), {}).values), (std::vector<float>{1, -2}));
  EXPECT_EQ(numbers(load_dataset(config("big"), {}).values), (std::vector<float>{1.5, -2}));
}

TEST_F(Hdf5, ReadsOneDataSetAColumn) {
  {
    Hdf5File file(path);
    file.group("run");
    file.add("run/M", {3}, {90, 91, 92});
    file.add("run/pt", {3}, {10, 20, 30});
    file.add("run/w", {3}, {1, 2, 3});
  }
  DatasetConfig columns = config("run", {"pt", "M"});
  columns.cuts = {"M > 90"};
  columns.weight_column = "w";
  const Dataset dataset = load_dataset(columns, {});
  EXPECT_EQ(numbers(dataset.values), (std::vector<float>{20, 91, 30, 92}));
  EXPECT_EQ(numbers(*dataset.weights), (std::vector<float>{2, 3}));
  EXPECT_EQ(dataset.observables, (std::vector<std::string>{"pt", "M"}));
  EXPECT_EQ(numbers(load_dataset(config("", {"run/M"}), {}).values),
            (std::vector<float>{90, 91, 92}));
}

TEST_F(Hdf5, ListsWhatIsThereWhenTheDataSetIsMissing) {
  {
    Hdf5File file(path);
    file.group("run");
    file.add("run/M", {1}, {90});
    file.add("events", {1}, {1});
  }
  EXPECT_EQ(data_refusal(config("mass")),
            " has no data set 'mass' (it holds: events, run/M). Set 'hdf5_dataset' or 'columns' to "
            "what is there.");
  EXPECT_EQ(data_refusal(config("run")),
            " has no data set 'run' (it holds: events, run/M). Set 'hdf5_dataset' or 'columns' to "
            "what is there.");
  EXPECT_EQ(data_refusal(config("")),
            " needs the name of a data set (it holds: events, run/M). Set 'hdf5_dataset' to one "
            "of them.");
  EXPECT_TRUE(data_refusal(config("run", {"pt"})).starts_with(" has no data set 'run/pt'"));
}

TEST_F(Hdf5, SaysWhenItHoldsNothing) {
  { Hdf5File file(path); }
  EXPECT_TRUE(data_refusal(config("a")).starts_with(" has no data set 'a' (it holds none)"));
}

TEST_F(Hdf5, RefusesWhatIsNoPlainNumber) {
  {
    Hdf5File file(path);
    const hid_t word = H5Tcopy(H5T_C_S1);
    H5Tset_size(word, 4);
    file.add("text", word, {1}, "abc");
    H5Tclose(word);
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(pair, "x", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(pair, "y", 4, H5T_NATIVE_FLOAT);
    const float point[2] = {1, 2};
    file.add("pair", pair, {1}, point);
    H5Tclose(pair);
  }
  EXPECT_EQ(data_refusal(config("text")),
            " data set 'text' holds text. Save it as whole or real numbers.");
  EXPECT_EQ(data_refusal(config("pair")),
            " data set 'pair' holds structures. Save it as whole or real numbers.");
}

TEST_F(Hdf5, RefusesOtherRanksAndLengths) {
  {
    Hdf5File file(path);
    file.add("cube", {1, 1, 1}, {1});
    file.add("scalar", {}, {1});
    file.add("two", {1, 2}, {1, 2});
    file.add("short", {1}, {1});
    file.add("long", {2}, {1, 2});
    file.add("none", {0}, {});
  }
  EXPECT_EQ(data_refusal(config("cube")),
            " data set 'cube' has 3 dimensions. Save it as [events] or [events, observables].");
  EXPECT_TRUE(data_refusal(config("scalar")).starts_with(" data set 'scalar' has 0 dimensions"));
  EXPECT_TRUE(data_refusal(config("", {"two"}))
                  .starts_with(" data set 'two' has two dimensions, a column has one."));
  EXPECT_EQ(data_refusal(config("", {"short", "long"})),
            " data set 'long' has 2 events, 'short' has 1. Columns must be of one length.");
  EXPECT_EQ(data_refusal(config("none")), " holds no events.");
}

TEST_F(Hdf5, RefusesADataSetThatWasNeverFilled) {
  {
    Hdf5File file(path);
    file.add("huge", H5T_NATIVE_DOUBLE, {hsize_t{1} << 40}, nullptr);
  }
  EXPECT_EQ(data_refusal(config("huge")),
            " data set 'huge' was never filled. Write the file again.");
}

// HDF5 itself reads 0 for the rows of a part that is lost.
TEST_F(Hdf5, ReadsPartsInOtherFilesAndNamesLostOnes) {
  const auto write = [this](const std::string& name, const std::string& set, double first) {
    Hdf5File(folder.file(name)).add(set, {2}, {first, first + 1});
  };
  write("first.h5", "x", 1);
  write("second.h5", "x", 3);
  {
    Hdf5File file(path);
    file.gather("all", {"first.h5", "second.h5"}, 2);
    file.link("beside", "second.h5");
  }
  EXPECT_EQ(numbers(load_dataset(config("all"), {}).values), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(numbers(load_dataset(config("beside"), {}).values), (std::vector<float>{3, 4}));
  const std::string second = folder.file("second.h5");
  for (const std::string name : {"all", "beside"}) {
    write("second.h5", "y", 3);
    EXPECT_EQ(data_refusal(config(name)), " takes '" + name + "' from " + second +
                                              ", which has no data set 'x' any more. Write either "
                                              "again.");
    std::filesystem::remove(second);
    EXPECT_EQ(data_refusal(config(name)), " takes '" + name + "' from " + second +
                                              ", which is not there. Bring it back, or write this "
                                              "one again.");
  }
}

TEST_F(Hdf5, SaysThatAFileIsLockedAndWaitsForNobody) {
  if (std::getenv("HDF5_USE_FILE_LOCKING")) GTEST_SKIP() << "HDF5_USE_FILE_LOCKING is set";
  {
    Hdf5File file(path);
    file.add("M", {2}, {1, 2});
  }
  const core::Descriptor writer(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(writer.number(), LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(data_refusal(config("M")).starts_with(" is locked by a program"));
  ASSERT_EQ(flock(writer.number(), LOCK_UN), 0);
  EXPECT_EQ(load_dataset(config("M"), {}).size(), 2);
}

TEST_F(Hdf5, PlacesNumbersThatAreNotFinite) {
  {
    Hdf5File file(path);
    file.add("M", {3}, {1, 2, std::numeric_limits<double>::quiet_NaN()});
  }
  EXPECT_TRUE(data_refusal(config("M")).starts_with("3: column '0' holds nan"));
  EXPECT_TRUE(data_refusal(config("", {"M"})).starts_with("3: column 'M' holds nan"));
}

TEST_F(Hdf5, RefusesForeignMissingAndTruncatedFiles) {
  EXPECT_TRUE(data_refusal(config("M")).starts_with(" cannot be read (No such file"));
  folder.make("a.hdf5", "a,b\n1,2\n");
  EXPECT_TRUE(data_refusal(config("M")).starts_with(" is not an HDF5 file"));
  {
    Hdf5File file(path);
    file.add("M", {1000}, std::vector<double>(1000, 1.0));
  }
  const std::string whole = core::read_file(path);
  folder.make("a.hdf5", whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(data_refusal(config("M")).starts_with(" is a broken or truncated HDF5 file"));
}

TEST_F(Hdf5, KeepsStandardErrorQuiet) {
  { Hdf5File file(path); }
  ::testing::internal::CaptureStderr();
  data_refusal(config("missing"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(WrittenHdf5, ReadsBackInPieces) {
  const TemporaryFolder folder;
  const std::string path = folder.file("written.h5");
  const std::vector<Hdf5Written> datasets{{"ones", {5}}, {"twos", {5, 2}}};
  const auto piece = [](std::size_t first, std::size_t count) {
    std::vector<std::vector<float>> numbers(2);
    for (std::size_t i = first; i < first + count; ++i) {
      numbers[0].push_back(static_cast<float>(i));
      numbers[1].insert(numbers[1].end(), {10 * static_cast<float>(i), 0.1F});
    }
    return numbers;
  };
  write_hdf5(path, datasets, 2, piece);
  EXPECT_EQ(hdf5_array(path, "twos").shape, (std::vector<std::size_t>{5, 2}));
  EXPECT_TRUE(hdf5_array(path, "twos").layout);  // contiguous, so that rows stream from it
  const Table ones = read_hdf5_array(path, "ones"), twos = read_hdf5_array(path, "twos");
  EXPECT_EQ(ones.columns[0], (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_EQ(twos.columns[0], (std::vector<double>{0, 10, 20, 30, 40}));
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WrittenHdf5, LeavesNothingWhereItFails) {
  const TemporaryFolder folder;
  const auto fails = [](std::size_t, std::size_t) -> std::vector<std::vector<float>> {
    throw core::Error("no rows");
  };
  EXPECT_THROW(write_hdf5(folder.file("a.h5"), {{"x", {3}}}, 2, fails), core::Error);
  EXPECT_EQ(folder.entries(), 0U);
  const std::string message = message_of<core::StorageError>([&] {
    write_hdf5(folder.file("no/a.h5"), {{"x", {3}}}, 2, fails);
  });
  EXPECT_NE(message.find("a.h5"), std::string::npos);
}

}  // namespace
}  // namespace sagips::data
