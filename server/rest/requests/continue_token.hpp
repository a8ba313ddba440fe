// The token by which a client asks for the next page of a list: the revision that the first page
// was read at, and the key to go on behind. In upstream's form, so that tools that look into it
// understand it: base64 of {"v":"meta.k8s.io/v1","rv":1234,"start":"default/web\u0000"}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/error.hpp"

namespace troupe::server {

struct continue_token {
  // -1: at whatever the present revision is; the list is inconsistent then.
  std::int64_t revision = 0;
  // The last key of the page before, without the prefix of the list.
  std::string after;
};

std::string encode_token(const continue_token& token);
// 400 for a text that is no such token.
api::expected<continue_token> decode_token(std::string_view text);

}  // namespace troupe::server
