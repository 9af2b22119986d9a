#include "sagips/data/dataset.hpp"

namespace sagips::data {

void DatasetConfig::fields(core::FieldList& list) {
  list.add("file", file, "measured events: .npy, .csv, .hdf5 or .h5; '' makes toy data");
  list.add("hdf5_dataset", hdf5_dataset, "data set, or group of the columns, inside an HDF5 file");
  list.add("columns", columns,
           "observables: names in .csv and in a group of HDF5 data sets, else numbers from 0; "
           "[] takes the workload's own");
  list.add("cuts", cuts, "conditions that every kept event fulfils, such as '70 < M < 110'");
  list.add("weight_column", weight_column, "column of event weights; '' for none");
  list.add("reference", reference, "named numbers that the objective compares with, e.g. norm_1");
  list.add("maximum_events", maximum_events, "only the first ones that pass the cuts; 0: all",
           core::Range::at_least(0));
  list.add("fraction", fraction, "share of the events that is kept, drawn without replacement",
           {0.0, 1.0, true, false});
  list.add("bootstrap", bootstrap, "draw as many events again, with replacement (Efron)");
  list.add("held_out", held_out, "share of the events kept aside, never trained on",
           core::Range::between(0.0, 0.9));
}

}  // namespace sagips::data
