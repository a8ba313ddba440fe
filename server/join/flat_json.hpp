// JSON objects whose members are all texts: what is said when a machine joins, and what it keeps of
// it. Read by the server from untrusted peers and by the joining machine, so nothing else is let
// through.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace troupe::server {

using flat_json = std::map<std::string, std::string, std::less<>>;

// The error is one line: what of the text is not so.
tl::expected<flat_json, std::string> read_flat_json(std::string_view text);
std::string write_flat_json(const flat_json& json);

// Empty where there is no such member.
std::string member(const flat_json& json, std::string_view name);

}  // namespace troupe::server
