#include "api/naming.hpp"

#include <uuid/uuid.h>

#include <cstring>

namespace troupe::api {

namespace {

constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t base_limit = 58;
constexpr int suffix_length = 5;

}  // namespace

std::string generated_name(std::string_view base, std::mt19937_64& random) {
  std::string name{base.substr(0, base_limit)};
  std::uniform_int_distribution<std::size_t> pick{0, alphabet.size() - 1};
  for (int i = 0; i < suffix_length; ++i)
    name += alphabet[pick(random)];
  return name;
}

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
