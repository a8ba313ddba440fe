// What the history checker must know of the objects in etcd.
#pragma once

#include <string>
#include <string_view>

namespace troupe::test {

inline constexpr std::string_view unreadable = "unreadable";

// The bytes of a text in the form of Go's %q, without its quotes.
std::string unquoted(std::string_view text);

// Of a Pod its node (or "-") and, if it is being deleted, "terminating"; of a Service its cluster
// addresses and node ports ("30001/TCP"). Words separated by spaces. `unreadable` if the value
// cannot be decoded; empty for other kinds.
std::string facts_of(std::string_view key, std::string_view value);

}  // namespace troupe::test
