#include "server/access/own_host.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

#include "server/http/http.hpp"
#include "server/http/status.hpp"

namespace troupe::server {
namespace {

// The host without port and IPv6 brackets.
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    return end == std::string_view::npos ? std::string_view{} : authority.substr(1, end - 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool is_address(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

bool equal_fold(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

response refused(const std::string& reason) {
  return status_response(403, "Forbidden", "forbidden: " + reason);
}

}  // namespace

std::optional<response> refuse_foreign_page(const request& head,
                                            const std::vector<std::string>& names) {
  const auto authority = head.headers.get("host");
  std::string host{host_of(authority)};
  if (host.ends_with('.')) host.pop_back();
  const bool known = authority.empty() || is_address(host) || equal_fold(host, "localhost") ||
                     std::any_of(names.begin(), names.end(),
                                 [&](const auto& name) { return equal_fold(host, name); });
  if (!known)
    return refused("this server is not called \"" + host +
                   "\": use its address, or add the name to server.names");
  const auto origin = head.headers.get("origin");
  if (origin.empty() || equal_fold(origin, "http://" + std::string{authority})) return std::nullopt;
  return refused("a page of " + std::string{origin} + " may not use this server");
}

}  // namespace troupe::server
