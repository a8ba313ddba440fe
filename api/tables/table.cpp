#include "api/tables/table.hpp"

#include <google/protobuf/message.h>

#include <array>

#include "api/codec/codec.hpp"
#include "api/kind_row.hpp"
#include "api/tables/row_cells.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {
namespace {

constexpr std::array<table_column, 2> fallback = {
    table_column{"Name", "string", "Name of the object, unique within its namespace."},
    table_column{"Age", "string", "Time since the object was created."}};

void append_column(std::string& out, const table_column& column) {
  out += R"({"name":)";
  append_json_string(out, column.name);
  out += R"(,"type":)";
  append_json_string(out, column.type);
  out += R"(,"format":)";
  append_json_string(out, column.name == "Name" ? "name" : column.format);
  out += R"(,"description":)";
  append_json_string(out, column.description);
  out += R"(,"priority":)";
  append_number(out, static_cast<std::int64_t>(column.priority));
  out += '}';
}

void append_list_meta(std::string& out, const table_options& options) {
  out += R"("metadata":{"resourceVersion":")";
  append_number(out, static_cast<std::int64_t>(options.revision));
  out += '"';
  if (!options.continue_token.empty()) {
    out += R"(,"continue":)";
    append_json_string(out, options.continue_token);
  }
  if (options.remaining) {
    out += R"(,"remainingItemCount":)";
    append_number(out, *options.remaining);
  }
  out += '}';
}

void append_row_object(std::string& out, const object& item, const table_options& options) {
  if (options.rows == row_object::none) {
    out += "null";
  } else if (options.rows == row_object::object) {
    out += *item.json_text();
  } else {
    out += R"({"kind":"PartialObjectMetadata","apiVersion":)";
    append_json_string(out, options.api_version);
    out += R"(,"metadata":)";
    append_json(out, item.meta(), {}, {});
    out += '}';
  }
}

}  // namespace

void append_table_row(std::string& out, const object& item, const table_options& options) {
  const auto& row = item.kind().row();
  out += R"({"cells":[)";
  row_cells cells(out, options.now_seconds);
  if (const auto* rules = item.kind().rules())
    rules->append_cells(out, item, options.now_seconds);
  else if (row.cells != nullptr)
    row.cells(cells, item.content());
  else
    cells.text(item.meta().name()).age(item.meta());
  out += ']';
  if (row.row_conditions != nullptr) {
    if (const auto conditions = row.row_conditions(item.content()); !conditions.empty()) {
      out += R"(,"conditions":)";
      out += conditions;
    }
  }
  out += R"(,"object":)";
  append_row_object(out, item, options);
  out += '}';
}

std::span<const table_column> table_columns(const kind_info& kind) {
  if (const auto* rules = kind.rules()) return rules->columns();
  const auto columns = kind.row().columns;
  return columns.empty() ? std::span<const table_column>(fallback) : columns;
}

void append_table_head(std::string& out, const kind_info& kind, const table_options& options) {
  out += R"({"kind":"Table","apiVersion":)";
  append_json_string(out, options.api_version);
  out += ',';
  append_list_meta(out, options);
  out += R"(,"columnDefinitions":)";
  if (options.columns) {
    char separator = '[';
    for (const auto& column : table_columns(kind)) {
      out += separator;
      append_column(out, column);
      separator = ',';
    }
    out += ']';
  } else {
    out += "null";
  }
  out += R"(,"rows":[)";
}

void append_table(std::string& out, const kind_info& kind, std::span<const object_ptr> objects,
                  const table_options& options) {
  append_table_head(out, kind, options);
  bool first = true;
  for (const auto& item : objects) {
    if (!first) out += ',';
    first = false;
    append_table_row(out, *item, options);
  }
  out += "]}";
}

}  // namespace troupe::api
