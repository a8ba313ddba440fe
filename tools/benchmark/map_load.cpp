#include "benchmark/map_load.hpp"

#include <fmt/format.h>

namespace troupe::bench {

load_options map_creates(load_options to, const std::string& prefix, std::size_t connections,
                         std::size_t streams) {
  to.http2 = streams > 1;
  to.connections = connections;
  to.streams = streams;
  to.next = [prefix](std::uint64_t i) {
    return load_request{
        "POST", maps_path,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}{}"}},"data":{{"d":"{}"}}}})",
            prefix, i, std::string(map_bytes - 100, 'x')),
        "application/json"};
  };
  return to;
}

}  // namespace troupe::bench
