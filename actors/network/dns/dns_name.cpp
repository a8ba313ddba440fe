#include "actors/network/dns/dns_name.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>

namespace troupe::actors::dns {

std::optional<std::string> to_wire(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  std::string name;
  while (!text.empty()) {
    const auto dot = text.find('.');
    const auto label = text.substr(0, dot);
    if (label.empty() || label.size() > most_label_bytes) return std::nullopt;
    name += static_cast<char>(label.size());
    name += label;
    if (dot == text.npos) break;
    text.remove_prefix(dot + 1);
    if (text.empty()) return std::nullopt;
  }
  if (name.size() + 1 > most_name_bytes) return std::nullopt;
  return lower(std::move(name));
}

std::string to_text(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    if (!text.empty()) text += '.';
    for (const unsigned char c : first_label(name))
      text += c > ' ' && c < 0x7f && c != '.' ? static_cast<char>(c) : '?';
    name = parent_of(name);
  }
  return text.empty() ? "." : text;
}

std::string_view first_label(std::string_view name) {
  return name.empty() ? name : name.substr(1, static_cast<unsigned char>(name.front()));
}

std::string_view parent_of(std::string_view name) {
  return name.empty() ? name : name.substr(1 + static_cast<unsigned char>(name.front()));
}

bool is_below(std::string_view name, std::string_view zone) {
  while (name.size() > zone.size())
    name = parent_of(name);
  return name == zone;
}

std::optional<std::string> address_bytes(const std::string& address) {
  std::array<char, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1)
    return std::string{bytes.data(), sizeof(in_addr)};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1)
    return std::string{bytes.data(), sizeof(in6_addr)};
  return std::nullopt;
}

std::optional<std::string> reverse_name(const std::string& address) {
  const auto bytes = address_bytes(address);
  if (!bytes) return std::nullopt;
  std::string text;
  for (auto at = bytes->rbegin(); at != bytes->rend(); ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (bytes->size() == sizeof(in_addr))
      text += fmt::format("{}.", byte);
    else
      text += fmt::format("{:x}.{:x}.", byte & 0xf, byte >> 4);
  }
  return to_wire(text + (bytes->size() == sizeof(in_addr) ? "in-addr.arpa" : "ip6.arpa"));
}

// The length bytes of labels are below 'A', so they do not change.
std::string lower(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace troupe::actors::dns
