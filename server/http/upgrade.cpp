#include "server/http/upgrade.hpp"

#include <algorithm>

#include "api/values/ascii.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::server {

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> found;
  while (!list.empty())
    if (const auto word = api::trimmed(api::take_part(list, ','), " "); !word.empty())
      found.emplace_back(word);
  return found;
}

bool is_upgrade(const request& request) {
  const auto words = split_list(api::to_lower(request.headers.joined("connection")));
  return std::find(words.begin(), words.end(), "upgrade") != words.end();
}

bool wants_websocket(const request& request) {
  return is_upgrade(request) && api::to_lower(request.headers.get("upgrade")) == "websocket";
}

std::vector<std::string> offered_protocols(const header_block& headers) {
  return split_list(headers.joined("sec-websocket-protocol"));
}

}  // namespace troupe::server
