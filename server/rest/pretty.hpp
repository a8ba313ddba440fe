// JSON for people: one member to a line.
#pragma once

#include <string>
#include <string_view>

namespace troupe::server {

// `json` is a document that we wrote ourselves, without blanks between its parts. Numbers and
// strings stay as they are.
std::string pretty_json(std::string_view json);

}  // namespace troupe::server
