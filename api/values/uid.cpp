#include "api/values/uid.hpp"

#include <uuid/uuid.h>

#include <cstring>

namespace troupe::api {

std::string generated_uid(std::mt19937_64& random) {
  const std::uint64_t words[2] = {random(), random()};
  uuid_t bytes;
  static_assert(sizeof bytes == sizeof words);
  std::memcpy(bytes, words, sizeof bytes);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);  // RFC 4122 variant
  char text[UUID_STR_LEN];
  uuid_unparse_lower(bytes, text);
  return text;
}

}  // namespace troupe::api
