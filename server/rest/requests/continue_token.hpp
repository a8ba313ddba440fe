// The token with which a client requests the next page of a list: the revision of the first page,
// and the key to continue after. In upstream's format, for tools that parse it: base64 of
// {"v":"meta.k8s.io/v1","rv":1234,"start":"default/web\u0000"}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/error.hpp"

namespace troupe::server {

struct continue_token {
  // -1: the current revision; the list is then inconsistent.
  std::int64_t revision = 0;
  // The last key of the previous page, without the prefix of the list.
  std::string after;
};

std::string encode_token(const continue_token& token);
// 400 if the text is not such a token.
api::expected<continue_token> decode_token(std::string_view text);

}  // namespace troupe::server
