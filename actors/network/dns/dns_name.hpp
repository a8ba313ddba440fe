// DNS names in wire format: each label after its length, without the root's zero. Names are
// compared as bytes, so they are kept in lower case. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::actors::dns {

// RFC 1035, including the root's zero.
inline constexpr std::size_t most_name_bytes = 255;
inline constexpr std::size_t most_label_bytes = 63;

// Converts "web.default.svc" to lower case wire format; a final dot is allowed. Returns nothing if
// a label is empty or too long, or the name is too long.
std::optional<std::string> to_wire(std::string_view text);

// Text for people: bytes that cannot be in a host name become "?".
std::string to_text(std::string_view name);

// The name without its first label; empty for the root. `name` is in wire format.
std::string_view parent_of(std::string_view name);
std::string_view first_label(std::string_view name);

// Also true for the zone itself.
bool is_below(std::string_view name, std::string_view zone);

// The reverse name: "4.3.2.1.in-addr.arpa", or nibbles below ip6.arpa; nothing if not an address.
std::optional<std::string> reverse_name(const std::string& address);

// The 4 or 16 bytes of an address; nothing if it is not an address.
std::optional<std::string> address_bytes(const std::string& address);

std::string lower(std::string text);

}  // namespace troupe::actors::dns
