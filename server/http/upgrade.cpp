#include "server/http/upgrade.hpp"

#include <algorithm>

#include "api/values/ascii.hpp"

namespace troupe::server {

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> found;
  while (!list.empty()) {
    auto word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    while (word.starts_with(' '))
      word.remove_prefix(1);
    while (word.ends_with(' '))
      word.remove_suffix(1);
    if (!word.empty()) found.emplace_back(word);
  }
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
