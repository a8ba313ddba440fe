#include "tools/join/random_letters.hpp"

#include <openssl/rand.h>

#include <string_view>

namespace troupe::tools {

std::string random_letters(std::size_t count) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr auto fair = 256 / letters.size() * letters.size();
  std::string text;
  while (text.size() < count) {
    unsigned char byte = 0;
    if (::RAND_bytes(&byte, 1) != 1) return {};
    if (byte < fair) text += letters[byte % letters.size()];
  }
  return text;
}

}  // namespace troupe::tools
