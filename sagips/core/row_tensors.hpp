#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sagips::core {

/// One of several tensors of a row: its numbers stand together in the row, from `first` on.
struct RowTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t first = 0;
  bool is_scaled = true;  ///< where rows are standardised

  std::int64_t numbers() const;
  /// It alone, a view of an array without gaps. shape: [rows, numbers of a row] -> [rows, shape]
  template <class Tensor>
  Tensor of(const Tensor& rows) const {
    std::vector<std::int64_t> whole = shape;
    whole.insert(whole.begin(), rows.size(0));
    return rows.narrow(1, first, numbers()).reshape(whole);
  }
};

/// The named tensors that make a row, one behind the other; none: a row is one tensor of any shape.
///
/// Names are looked up where networks, losses and files are put together, and are places in a row from
/// then on: rows are drawn, exchanged, predicted and kept as one array, whatever they hold.
class RowTensors {
 public:
  bool empty() const { return tensors_.empty(); }
  std::size_t size() const { return tensors_.size(); }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }
  const RowTensor& operator[](std::size_t i) const { return tensors_[i]; }

  /// Behind the others.
  void add(const std::string& name, std::vector<std::int64_t> shape, bool is_scaled = true);
  void add(RowTensor tensor) { tensors_.push_back(std::move(tensor)); }  ///< where it says
  std::int64_t numbers() const;                                          ///< of a row
  std::vector<std::string> names() const;
  /// throws: Error for a name that there is not
  const RowTensor& at(const std::string& name) const;
  std::string written() const;  ///< "image 1 x 8 x 8, numbers 3"

 private:
  std::vector<RowTensor> tensors_;
};

}  // namespace sagips::core
