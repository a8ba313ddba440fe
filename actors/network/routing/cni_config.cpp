#include "actors/network/routing/cni_config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::actors::routing {
namespace {

std::string quoted(const std::string& text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string cni_config(const cni_options& options) {
  std::string ranges, routes;
  for (const auto& range : options.ranges) {
    const auto* comma = ranges.empty() ? "" : ",";
    ranges += fmt::format("{}[{{\"subnet\":{}}}]", comma, quoted(range.text()));
    routes += fmt::format("{}{{\"dst\":\"{}\"}}", comma, range.is_v6() ? "::/0" : "0.0.0.0/0");
  }
  return fmt::format(
      R"({{"cniVersion":"1.0.0","name":"troupe","plugins":[
  {{"type":"ptp","ipMasq":false,"mtu":{},"ipam":{{"type":"host-local","dataDir":{},
    "ranges":[{}],"routes":[{}]}}}}
]}}
)",
      options.mtu_bytes, quoted(options.addresses.string()), ranges, routes);
}

std::vector<std::string> cni_files(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) {
    return !name.ends_with(".conf") && !name.ends_with(".conflist") && !name.ends_with(".json");
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace troupe::actors::routing
