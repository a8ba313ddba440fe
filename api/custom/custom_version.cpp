#include "api/custom/custom_version.hpp"

#include <algorithm>

#include "api/codec/json_text.hpp"
#include "api/custom/custom_values.hpp"
#include "api/object/custom_body.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/structural/compile.hpp"
#include "api/structural/open_schema.hpp"
#include "api/tables/age.hpp"
#include "api/validation/field_errors.hpp"
#include "api/values/timestamp.hpp"
#include "api/version_order.hpp"

namespace troupe::api {

using apiextensions::v1::CustomResourceDefinition;
using apiextensions::v1::CustomResourceDefinitionVersion;

namespace {

constexpr std::string_view creation_path = ".metadata.creationTimestamp";

json_path path_of(std::string_view text) {
  // A path stored by an older version may be invalid: it then selects nothing.
  return json_path::parse(text).value_or(json_path{});
}

void append_date(std::string& out, const json_value& value, std::int64_t now_seconds) {
  if (!value.IsString()) {
    out += "null";
    return;
  }
  const auto moment = parse_time(text_of(value));
  append_json_string(out, moment ? age_at(now_seconds, moment->seconds) : "<invalid>");
}

// kubernetes: apiextensions-apiserver/pkg/registry/customresource/tableconvertor, cellForJSONValue.
void append_cell(std::string& out, std::string_view type, const json_value* value,
                 std::int64_t now_seconds) {
  if (value == nullptr || value->IsNull()) {
    out += "null";
  } else if (type == "string") {
    append_json_string(out, value->IsString() ? std::string{text_of(*value)} : write_json(*value));
  } else if (type == "date") {
    append_date(out, *value, now_seconds);
  } else if (type == "integer" && value->IsDouble()) {
    append_number(out, static_cast<std::int64_t>(std::clamp(value->GetDouble(), -9e18, 9e18)));
  } else if ((type == "boolean" && value->IsBool()) || (type != "boolean" && value->IsNumber())) {
    out += write_json(*value);
  } else {
    out += "null";
  }
}

}  // namespace

std::string deprecation_of(const CustomResourceDefinition& definition, int index) {
  const auto& spec = definition.spec();
  const auto& of = spec.versions(index);
  if (!of.deprecated()) return {};
  if (of.has_deprecation_warning()) return of.deprecation_warning();
  const auto named = [&spec](const std::string& version) {
    return spec.group() + "/" + version + " " + spec.names().kind();
  };
  std::string best;
  for (const auto& each : spec.versions())
    if (each.served() && !each.deprecated() &&
        (best.empty() || version_before{}(each.name(), best)))
      best = each.name();
  auto text = named(of.name()) + " is deprecated";
  if (!best.empty() && version_before{}(best, of.name())) text += "; use " + named(best);
  return text;
}

custom_version::custom_version(object_ptr definition, int index, std::uint64_t since)
    : definition_(std::move(definition)),
      said_(whole().spec().versions(index)),
      open_schema_(whole().spec().preserve_unknown_fields()
                       ? open_schema(said_.schema().open_api_v3_schema().raw())
                       : std::string{}),
      since_(since),
      terminating_(whole().metadata().has_deletion_timestamp()),
      unchecked_rules_(schema_text().find("\"x-kubernetes-validations\"") != std::string::npos),
      warning_(deprecation_of(whole(), index)) {
  read_columns();
  read_scale();
  for (const auto& each : said_.selectable_fields())
    if (each.json_path().starts_with('.'))
      selectable_.emplace(each.json_path().substr(1), path_of(each.json_path()));
}

const CustomResourceDefinition& custom_version::whole() const {
  return definition_->as<CustomResourceDefinition>();
}

const std::string& custom_version::schema_text() const {
  return open_schema_.empty() ? said_.schema().open_api_v3_schema().raw() : open_schema_;
}

void custom_version::read_columns() {
  columns_.push_back({.name = "Name",
                      .type = "string",
                      .description = "Name of the object, unique within its namespace."});
  descriptions_.reserve(static_cast<std::size_t>(said_.additional_printer_columns_size()));
  for (const auto& each : said_.additional_printer_columns()) {
    descriptions_.push_back(!each.description().empty()
                                ? each.description()
                                : "Custom resource definition column (in JSONPath format): " +
                                      each.json_path());
    columns_.push_back({.name = each.name(),
                        .type = each.type(),
                        .description = descriptions_.back(),
                        .priority = each.priority(),
                        .format = each.format()});
    cells_.push_back(path_of(each.json_path()));
  }
  if (!cells_.empty()) return;
  columns_.push_back(
      {.name = "Age", .type = "date", .description = "Time since the object was created."});
  cells_.push_back(path_of(creation_path));
}

void custom_version::read_scale() {
  if (!said_.subresources().has_scale()) return;
  const auto& said = said_.subresources().scale();
  scale_ = {.wanted = path_of(said.spec_replicas_path()),
            .actual = path_of(said.status_replicas_path()),
            .selector = std::nullopt};
  if (!said.label_selector_path().empty()) scale_->selector = path_of(said.label_selector_path());
}

custom_version::~custom_version() = default;

const structural_schema* custom_version::schema() const {
  std::call_once(compiled_, [this] {
    field_errors ignored;
    schema_ = compile_schema(ignored, schema_text());
  });
  return schema_.get();
}

void custom_version::append_cells(std::string& out, const object& item,
                                  std::int64_t now_seconds) const {
  append_json_string(out, item.meta().name());
  custom_values values{as_custom(item.content())};
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto type = columns_[i + 1].type;
    out += ',';
    if (type == "date" && cells_[i].is_creation_time())
      append_json_string(out, age_at(now_seconds, item.meta().creation_timestamp().seconds()));
    else
      append_cell(out, type, values.first(cells_[i]), now_seconds);
  }
}

std::string custom_version::field(const CustomBody& content, std::string_view path) const {
  const auto found = selectable_.find(path);
  if (found == selectable_.end()) return {};
  custom_values values{content};
  return plain_text(values.first(found->second));
}

}  // namespace troupe::api
