// JSON objects with string members only: the messages of joining, and the stored result. The server
// parses them from untrusted peers, and the joining machine from the server, so all else is
// refused.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace troupe::server {

using flat_json = std::map<std::string, std::string, std::less<>>;

// The error is one line with the problem.
tl::expected<flat_json, std::string> read_flat_json(std::string_view text);
std::string write_flat_json(const flat_json& json);

// Empty if there is no such member.
std::string member(const flat_json& json, std::string_view name);

}  // namespace troupe::server
