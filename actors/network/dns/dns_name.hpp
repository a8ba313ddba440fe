// Names in the form of the wire: each label behind its length, without the root's zero. Names are
// compared as bytes, so they are kept in lower case. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::actors::dns {

// RFC 1035, with the root's zero.
inline constexpr std::size_t most_name_bytes = 255;
inline constexpr std::size_t most_label_bytes = 63;

// Of "web.default.svc", in lower case; a dot at the end may be there. Nothing where a label is
// empty or too long, or the name is.
std::optional<std::string> to_wire(std::string_view text);

// For people: bytes that no host name has are shown as "?".
std::string to_text(std::string_view name);

// Without the first label; empty for the root. `name` is in the form of the wire.
std::string_view parent_of(std::string_view name);
std::string_view first_label(std::string_view name);

// True for the zone itself, too.
bool is_below(std::string_view name, std::string_view zone);

// Of an address: "4.3.2.1.in-addr.arpa", or nibbles below ip6.arpa; nothing where it is none.
std::optional<std::string> reverse_name(const std::string& address);

// The bytes of an address: 4 or 16; nothing where it is none.
std::optional<std::string> address_bytes(const std::string& address);

std::string lower(std::string text);

}  // namespace troupe::actors::dns
