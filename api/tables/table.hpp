// Objects as rows of a table, for `kubectl get`: the server decides on columns and cells, the
// client prints them (Accept: …;as=Table;v=v1;g=meta.k8s.io).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/object/object.hpp"

namespace troupe::api {

struct table_column {
  std::string_view name;
  std::string_view type = "string";  // of OpenAPI: string, integer, boolean
  std::string_view description;
  int priority = 0;  // above 0: only with -o wide
  std::string_view format = {};
};

// The columns of a kind; Name and Age by default. The first one is the name, except for
// events.
std::span<const table_column> table_columns(const kind_info& kind);

// The form of the object in each row (query parameter includeObject).
enum class row_object { metadata, object, none };

struct table_options {
  std::string_view api_version = "meta.k8s.io/v1";  // or meta.k8s.io/v1beta1
  row_object rows = row_object::metadata;
  bool columns = true;  // a watch sends the columns once, with its first event
  std::int64_t now_seconds = 0;
  // Revision of the list; a table of one object has that object's revision.
  std::uint64_t revision = 0;
  std::string_view continue_token;
  std::optional<std::int64_t> remaining;
};

// A Table as JSON, in parts: the head, comma-separated rows, and "]}".
void append_table_head(std::string& out, const kind_info& kind, const table_options& options);
void append_table_row(std::string& out, const object& item, const table_options& options);
// Appends the whole Table as JSON. All objects are of that kind.
void append_table(std::string& out, const kind_info& kind, std::span<const object_ptr> objects,
                  const table_options& options);

}  // namespace troupe::api
