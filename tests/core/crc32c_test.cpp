#include "sagips/core/crc32c.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sagips::core {
namespace {

// Values of RFC 3720, appendix B.4, and the check value of the catalogue of parametrised CRCs.
TEST(Crc32c, GivesTheValuesOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, GoesOnWhereItEnded) { EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xE3069283U); }

TEST(Crc32c, SeesEveryFlippedBit) {
  const std::string bytes = "some bytes of a file";
  const std::uint32_t right = crc32c(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(crc32c(flipped), right);
  }
}

}  // namespace
}  // namespace sagips::core
