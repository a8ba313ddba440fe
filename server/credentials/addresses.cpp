#include "server/credentials/addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "server/defaults.hpp"

namespace troupe::server {
namespace {

// For documentation (RFC 5737): in no network, so that the default route is used.
constexpr const char* elsewhere = "192.0.2.1";
constexpr std::uint16_t any_port = 9;

std::string text_of(const sockaddr* address) {
  std::array<char, NI_MAXHOST> text{};
  const socklen_t size = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return text.data();
}

// Connecting a datagram socket sends nothing, but selects the source address.
std::string default_route_address() {
  const int probe = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return {};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(any_port);
  ::inet_pton(AF_INET, elsewhere, &to.sin_addr);
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  std::string found;
  if (::connect(probe, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
      ::getsockname(probe, reinterpret_cast<sockaddr*>(&from), &size) == 0)
    found = text_of(reinterpret_cast<const sockaddr*>(&from));
  ::close(probe);
  return found;
}

}  // namespace

bool is_wildcard(const std::string& host) {
  return host.empty() || host == "0.0.0.0" || host == "::";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

namespace {

struct interface_address {
  std::string interface, text;
  int family = AF_UNSPEC;
};

// Without those of links.
std::vector<interface_address> all_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned{all, &::freeifaddrs};
  std::vector<interface_address> found;
  for (const auto* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    auto text = text_of(each->ifa_addr);
    const bool of_link = text.find('%') != text.npos;
    if (!text.empty() && !of_link) found.push_back({each->ifa_name, std::move(text), family});
  }
  return found;
}

}  // namespace

std::vector<std::string> interface_addresses() {
  std::vector<std::string> found;
  for (auto& each : all_addresses())
    // The interfaces of all pods have the same address.
    if (found.size() < defaults::interface_addresses &&
        std::find(found.begin(), found.end(), each.text) == found.end())
      found.push_back(std::move(each.text));
  return found;
}

std::string second_address(const std::string& address) {
  if (is_loopback(address)) return {};
  const auto all = all_addresses();
  const auto first =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.text == address; });
  if (first == all.end()) return {};
  const auto second = std::find_if(all.begin(), all.end(), [&](const auto& each) {
    return each.interface == first->interface && each.family != first->family;
  });
  return second == all.end() ? std::string{} : second->text;
}

std::string outward_address() {
  if (auto found = default_route_address(); !found.empty()) return found;
  const auto all = interface_addresses();
  const auto found = std::find_if_not(all.begin(), all.end(), is_loopback);
  return found == all.end() ? std::string{} : *found;
}

std::string reachable_address(const std::string& host) {
  const auto found = is_wildcard(host) ? outward_address() : host;
  return found.empty() || found == "localhost" ? "127.0.0.1" : found;
}

}  // namespace troupe::server
