#include "server/credentials/base64url.hpp"

#include <algorithm>

#include "api/values/base64.hpp"

namespace troupe::server {

std::string base64url(std::string_view bytes) {
  std::string text;
  api::append_base64(text, bytes);
  while (text.ends_with('='))
    text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  if (text.find_first_of("+/=\r\n") != text.npos) return std::nullopt;
  std::string usual{text};
  std::replace(usual.begin(), usual.end(), '-', '+');
  std::replace(usual.begin(), usual.end(), '_', '/');
  usual.append((4 - usual.size() % 4) % 4, '=');
  std::string bytes;
  if (api::append_from_base64(bytes, usual)) return std::nullopt;
  if (base64url(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace troupe::server
