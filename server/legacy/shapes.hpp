// The v1beta1 documents of responses. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "api/object/object.hpp"
#include "server/http/http.hpp"

namespace troupe::server::legacy {

// The words of a Status had two spellings, and clients compare them.
enum class dialect : std::uint8_t {
  v0_2,  // "success", "not_found"
  v0_4,  // "Success", "NotFound"
};

// The path of an object in this version.
std::string self_link(const api::kind_info& shape, std::string_view id);

std::string object_json(const api::object& content, const api::kind_info& shape);
// Items have no kind and version. A list of minions has them twice, also as `minions`.
std::string list_json(const std::vector<api::object_ptr>& items, const api::kind_info& shape,
                      std::uint64_t revision);
// {"type":"ADDED","object":{...}} and a line feed.
std::string event_json(std::string_view type, std::string_view object);

// An error about the request's object, with its kind and id in the client's terms (upstream:
// pkg/api/errors). Errors about other objects are unchanged.
api::error to_legacy_error(api::error error, const api::kind_info& shape, std::string_view id);

std::string failure_json(const api::error& error, dialect words);
std::string success_json(dialect words);
std::string working_json(std::uint64_t operation, dialect words);
std::string operations_json(const std::vector<std::uint64_t>& ids);

response json_response(int status, std::string text);
response text_response(int status, std::string text);

}  // namespace troupe::server::legacy
