// Responses of the REST API in the client's requested form. Objects are sent from their cached
// encodings without a copy, also within lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "api/object/object.hpp"
#include "server/http/http.hpp"
#include "server/rest/requests/negotiation.hpp"

namespace troupe::server {

// The form of the object in the rows of a table (query parameter includeObject).
enum class included : std::uint8_t { metadata, object, nothing };
api::expected<included> parse_included(const query_string& query);

struct list_page {
  api::kind_handle kind;
  std::vector<api::object_ptr> items;
  std::uint64_t revision = 0;
  std::string continue_token;             // empty on the last page
  std::optional<std::int64_t> remaining;  // absent when unknown
};

response object_answer(const response_format& form, int status, const api::object_ptr& object,
                       included rows = included::metadata);
// Long lists are encoded part by part while they are sent.
response list_answer(const response_format& form, list_page page,
                     included rows = included::metadata);
// For messages that are not stored objects: Status, Scale, reviews. Never as a table.
response message_answer(const response_format& form, int status, const api::body& content,
                        std::string_view api_version, std::string_view kind);
// A Status, with Retry-After if the error has it.
response error_answer(const response_format& form, const api::error& error);

}  // namespace troupe::server
