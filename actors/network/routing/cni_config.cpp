#include "actors/network/routing/cni_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/network/defaults.hpp"

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
  // A pod with the host port 53 must not get the queries to DNS, which is an address of the
  // machine.
  const auto host_ports = fmt::format(
      R"(,
  {{"type":"portmap","capabilities":{{"portMappings":true}},"snat":true,
    "conditionsV4":["!","-d","{}"]}})",
      network_defaults::dns_address);
  return fmt::format(
      R"({{"cniVersion":"1.0.0","name":"troupe","plugins":[
  {{"type":"ptp","ipMasq":false,"mtu":{},"ipam":{{"type":"host-local","dataDir":{},
    "ranges":[{}],"routes":[{}]}}}}{}
]}}
)",
      options.mtu_bytes, quoted(options.addresses.string()), ranges, routes,
      options.host_ports ? host_ports : std::string{});
}

std::vector<std::string> cni_files(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) {
    return !name.ends_with(".conf") && !name.ends_with(".conflist") && !name.ends_with(".json");
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace troupe::actors::routing
