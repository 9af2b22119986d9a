#pragma once
#include <string>
#include <string_view>

#include "sagips/core/npy_header.hpp"

namespace sagips::data {

/// What the idx format of MNIST says of the numbers that follow: two zeros, a type, the number of
/// dimensions, each of these as a big-endian u32, the numbers.
/// source: as the page of MNIST has it (LeCun, Cortes and Burges)
/// bytes: at least those of the header; file_bytes: of the whole file, unpacked; file: for messages
/// throws: DataError
core::NpyHeader parse_idx_header(std::string_view bytes, std::size_t file_bytes,
                                 const std::string& file);

/// The same of a file that is not packed.
core::NpyHeader read_idx_header(const std::string& path);

}  // namespace sagips::data
