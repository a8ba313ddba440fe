// Conversions of addresses to and from the kernel's format: bytes in network order.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <string>
#include <string_view>

namespace troupe::actors::routing {

inline int family_of(std::string_view text) {
  return text.find(':') == std::string_view::npos ? AF_INET : AF_INET6;
}

// Returns an empty value if the text is not an address.
inline std::string address_bytes(const std::string& text) {
  const int family = family_of(text);
  std::string out(family == AF_INET ? 4 : 16, '\0');
  return ::inet_pton(family, text.c_str(), out.data()) == 1 ? out : std::string{};
}

// Returns an empty text if the bytes are not an address.
inline std::string address_text(std::string_view bytes) {
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  char text[INET6_ADDRSTRLEN];
  return ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
}

}  // namespace troupe::actors::routing
