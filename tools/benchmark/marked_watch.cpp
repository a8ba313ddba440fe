#include "benchmark/marked_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmark/map_load.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t digits = 16;
constexpr std::string_view label_in_json = "\"sent\":\"";
// The key's text, then the value's field number and length.
constexpr std::string_view label_in_stored = "sent\x12\x10";

}  // namespace

void send_mark(test::http_client& to, std::int64_t mark, bool first) {
  const auto body = fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"watched"}},"data":{{"sent":"{:016}","d":"{}"}}}})",
      mark, std::string(map_bytes - 100, 'x'));
  to.request(first ? "POST" : "PUT", first ? maps_path : std::string(maps_path) + "/watched", body,
             {{"content-type", "application/json"}});
}

marked_watch::marked_watch(const node& n) : client_{n.client()} {
  client_.send_request(
      "GET", std::string(maps_path) + "?watch=true&fieldSelector=metadata.name%3Dwatched");
  if (client_.receive_head().status != 200) die("no watch");
}

void marked_watch::take(const std::function<void(std::int64_t mark)>& seen) {
  constexpr auto size = label_in_json.size() + digits;
  do {
    text_ += client_.connection().receive();
    if (client_.connection().ended()) die("a watch has ended");
    std::size_t at = 0;
    for (;;) {
      const auto found = text_.find(label_in_json, at);
      if (found == text_.npos || found + size > text_.size()) break;
      at = found + label_in_json.size();
      seen(std::stoll(text_.substr(at, digits)));
    }
    text_.erase(0, std::max(at, text_.size() - std::min(text_.size(), size)));
  } while (client_.connection().has_input());
}

std::int64_t mark_in_stored(std::string_view value) {
  const auto found = value.find(label_in_stored);
  if (found == value.npos || found + label_in_stored.size() + digits > value.size()) return -1;
  return std::stoll(std::string{value.substr(found + label_in_stored.size(), digits)});
}

}  // namespace troupe::bench
