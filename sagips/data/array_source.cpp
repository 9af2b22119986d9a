#include "sagips/data/array_source.hpp"

#include <algorithm>

#include "sagips/core/config/effects.hpp"
#include "sagips/data/whole_file.hpp"

namespace sagips::data {

void ArraySource::fields(core::FieldList& list) {
  list.add_paths("file", file,
                 ".npy, .csv, .hdf5, .h5 or idx; .csv.gz and idx .gz; several: a list, a pattern "
                 "(train_*.h5), or a .txt with a file a line");
  list.add("hdf5_dataset", hdf5_dataset,
           "path of the array inside an HDF5 file, or of a group: its arrays follow each other in "
           "a row, by name");
  list.add(
      "columns", columns,
      "of a table: names of its header, else numbers from 0; empty: all that the targets leave");
  list.add("shape", shape, "lengths of a row's dimensions, [1, 28, 28]; empty: as in the file",
           core::Range::between(1, 1e9));
  list.add("select", select,
           "what is kept of each dimension of a row, as NumPy writes it: \"0:40, 3:\"; empty: all");
  list.add("reorder", reorder, "a row's dimensions in another order, from 0: [1, 0]",
           core::Range::between(0, 31));
  list.add("divide_by", divide_by,
           "every number is divided by this, 255 for bytes of images; null: by nothing, or as the "
           "other rows are",
           core::Range::positive());
  list.add_path("script", script,
                "TorchScript module that makes other rows of them, [rows, ...] to [rows, ...]");
  core::needs(list, is_given(), "a file",
              {"hdf5_dataset", "columns", "shape", "select", "reorder", "divide_by", "script"});
  const auto may_be_hdf5 = [](const std::string& name) {  // lists and patterns may name anything
    return name.ends_with(".txt") || name.find_first_of("*?[") != std::string::npos ||
           format_of(name) == FileFormat::hdf5;
  };
  core::needs(list, std::any_of(file.begin(), file.end(), may_be_hdf5), "an HDF5 file",
              {"hdf5_dataset"});
}

}  // namespace sagips::data
