#include "actors/network/services/service_counts.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "actors/kubelet/os/run_program.hpp"
#include "actors/network/defaults.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::actors::services {

// An element is "KEY counter packets N bytes N : goto CHAIN", after "{" or ",".
connection_counts parse_counts(const std::string& map, const std::string& text) {
  constexpr std::string_view mark = " counter packets ";
  connection_counts out;
  const std::string_view all{text};
  for (auto at = all.find(mark); at != all.npos; at = all.find(mark, at + mark.size())) {
    const auto before = all.substr(0, at);
    const auto begin = before.find_last_of("{,");
    std::uint64_t packets = 0;
    const auto* number = all.data() + at + mark.size();
    const auto read = std::from_chars(number, all.data() + all.size(), packets);
    if (begin == before.npos || read.ec != std::errc{}) continue;
    out[{map, std::string{api::trimmed(before.substr(begin + 1), " \t\n")}}] = packets;
  }
  return out;
}

connection_counts read_counts(const std::vector<std::string>& nft, const elements& of,
                              const address_family& family) {
  auto command = nft;
  command.insert(command.end(), {"-f", "-"});
  connection_counts out;
  for (const auto* map : {"service-ports", "node-ports", "refused", "node-refused"}) {
    std::string keys;
    for (const auto& [key, data] : of)
      if (key.collection == map) keys += (keys.empty() ? "" : ", ") + key.key;
    if (keys.empty()) continue;
    const auto text = output_of_program(
        "nft", command, fmt::format("get element {} {} {{ {} }}\n", family.table, map, keys),
        network_defaults::counts_limit, network_defaults::counts_bytes);
    if (text) out.merge(parse_counts(map, *text));
  }
  return out;
}

}  // namespace troupe::actors::services
