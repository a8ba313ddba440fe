#include "actors/kubelet/usage/pod_networks.hpp"

#include <arpa/inet.h>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

namespace {

std::string file_text(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// Addresses by device, of devices with a route to one address and no others.
std::map<std::string, std::string> routed_addresses(const std::string& routes) {
  constexpr const char* whole = "FFFFFFFF";
  constexpr const char* no_gateway = "00000000";
  std::map<std::string, std::string> out;
  std::istringstream lines{routes};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string device, address, gateway, flags, references, uses, metric, mask;
    if (!(words >> device >> address >> gateway >> flags >> references >> uses >> metric >> mask))
      continue;
    in_addr parsed{};
    std::istringstream{address} >> std::hex >> parsed.s_addr;
    std::array<char, INET_ADDRSTRLEN> text{};
    const bool one = mask == whole && gateway == no_gateway &&
                     ::inet_ntop(AF_INET, &parsed, text.data(), text.size()) != nullptr;
    const auto [at, first] = out.emplace(device, one ? text.data() : "");
    if (!first) at->second.clear();
  }
  return out;
}

}  // namespace

std::vector<network_counters> parse_pod_networks(const std::string& routes,
                                                 const std::string& devices) {
  const auto addresses = routed_addresses(routes);
  std::vector<network_counters> all;
  std::istringstream lines{devices};
  for (std::string line;
       all.size() < kubelet_defaults::measured_networks && std::getline(lines, line);) {
    const auto colon = line.find(':'), begin = line.find_first_not_of(' ');
    if (colon == line.npos) continue;
    const auto found = addresses.find(line.substr(begin, colon - begin));
    if (found == addresses.end() || found->second.empty()) continue;
    network_counters of{.address = found->second};
    std::uint64_t fifo = 0, frame = 0, compressed = 0, multicast = 0;
    std::istringstream words{line.substr(colon + 1)};
    if (words >> of.tx_bytes >> of.tx_packets >> of.tx_errors >> of.tx_dropped >> fifo >> frame >>
        compressed >> multicast >> of.rx_bytes >> of.rx_packets >> of.rx_errors >> of.rx_dropped)
      all.push_back(of);
  }
  return all;
}

std::vector<network_counters> read_pod_networks() {
  return parse_pod_networks(file_text("/proc/net/route"), file_text("/proc/net/dev"));
}

}  // namespace troupe::actors
