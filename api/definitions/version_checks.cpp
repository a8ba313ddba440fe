#include "api/definitions/version_checks.hpp"

#include <algorithm>
#include <set>

#include "api/custom/json_path.hpp"
#include "api/limits.hpp"
#include "api/structural/compile.hpp"
#include "api/validation/field_errors.hpp"

namespace troupe::api::definitions {

using namespace apiextensions::v1;

namespace {

void check_deprecation(field_errors& out, const CustomResourceDefinitionVersion& of) {
  if (!of.has_deprecation_warning()) return;
  const auto& warning = of.deprecation_warning();
  constexpr std::string_view field = "deprecationWarning";
  if (!of.deprecated()) out.invalid(field, warning, "can only be set for deprecated versions");
  if (warning.empty()) out.invalid(field, warning, "must not be an empty string");
  if (warning.size() > limits::deprecation_warning_bytes)
    out.invalid(
        field, warning,
        "must be <= " + std::to_string(limits::deprecation_warning_bytes) + " characters long");
  for (const char c : warning)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return out.invalid(field, warning, "must only contain printable UTF-8 characters");
}

// A path of members below .spec or .status.
void check_scale_path(field_errors& out, std::string_view field, const std::string& path, bool spec,
                      bool status) {
  if (path.empty()) return;  // the schema has a rule for required ones
  const auto read = json_path::parse(path);
  if (!read || !read->plain())
    return out.invalid(field, path, "must be a dot notation path without arrays");
  if ((spec && read->starts_with("spec")) || (status && read->starts_with("status"))) return;
  out.invalid(field, path,
              spec && status ? "should be a json path under either .spec or .status"
              : spec         ? "should be a json path under .spec"
                             : "should be a json path under .status");
}

void check_scale(field_errors& out, const CustomResourceSubresourceScale& scale) {
  const auto subresources = out.at.field("subresources");
  const auto step = out.at.field("scale");
  check_scale_path(out, "specReplicasPath", scale.spec_replicas_path(), true, false);
  check_scale_path(out, "statusReplicasPath", scale.status_replicas_path(), false, true);
  check_scale_path(out, "labelSelectorPath", scale.label_selector_path(), true, true);
}

void check_column(field_errors& out, const CustomResourceColumnDefinition& column) {
  static constexpr std::string_view formats[] = {"byte",  "date",  "date-time", "double",
                                                 "float", "int32", "int64",     "password"};
  const auto& format = column.format();
  if (!format.empty() &&
      std::find(std::begin(formats), std::end(formats), format) == std::end(formats))
    out.unsupported("format", format, formats);
  if (column.json_path().empty()) return;
  if (const auto read = json_path::parse(column.json_path()); !read)
    out.invalid("jsonPath", column.json_path(), "invalid JSON path: " + read.error());
}

// The schema of the field; null if there is none.
const schema_node* node_of(const schema_node& root, const json_path& path) {
  const auto* at = &root;
  for (const auto& each : path.steps())
    if (at != nullptr) at = at->find(each.name);
  return at;
}

void check_selectable(field_errors& out, const CustomResourceDefinitionVersion& of,
                      const schema_node* root) {
  out.at_most("selectableFields", of.selectable_fields_size(), limits::selectable_fields);
  std::set<std::string> seen;
  for (int i = 0; i < of.selectable_fields_size(); ++i) {
    const auto step = out.at.item("selectableFields", static_cast<std::size_t>(i));
    const auto& path = of.selectable_fields(i).json_path();
    if (path.empty()) continue;
    const auto read = json_path::parse(path);
    if (!read || !read->plain()) {
      out.invalid("jsonPath", path, "must be a simple path of fields: .spec.color");
      continue;
    }
    if (!seen.insert(path).second) out.duplicate("jsonPath", path);
    if (read->starts_with("metadata"))
      out.invalid("jsonPath", path, "must not point to fields in metadata");
    else if (const auto* node = root == nullptr ? nullptr : node_of(*root, *read);
             root != nullptr && (node == nullptr || (node->type != schema_type::string &&
                                                     node->type != schema_type::boolean &&
                                                     node->type != schema_type::integer)))
      out.invalid("jsonPath", path,
                  "must point to a field of type string, boolean or integer that the schema has");
  }
}

std::shared_ptr<const structural_schema> check_schema(field_errors& out,
                                                      const CustomResourceDefinitionVersion& of) {
  const auto schema = out.at.field("schema");
  if (!of.schema().has_open_api_v3_schema()) {
    out.required("openAPIV3Schema", "schemas are required");
    return nullptr;
  }
  const auto step = out.at.field("openAPIV3Schema");
  return compile_schema(out, of.schema().open_api_v3_schema().raw(),
                        {.status_apart = of.subresources().has_status()});
}

}  // namespace

void check_version(field_errors& out, const CustomResourceDefinitionVersion& of,
                   bool needs_schema) {
  if (!of.name().empty()) out.each("name", of.name(), check_dns_1035_label(of.name()));
  check_deprecation(out, of);
  const auto schema = needs_schema ? check_schema(out, of) : nullptr;
  if (of.subresources().has_scale()) check_scale(out, of.subresources().scale());
  for (int i = 0; i < of.additional_printer_columns_size(); ++i) {
    const auto step = out.at.item("additionalPrinterColumns", static_cast<std::size_t>(i));
    check_column(out, of.additional_printer_columns(i));
  }
  check_selectable(out, of, schema ? &schema->root : nullptr);
}

}  // namespace troupe::api::definitions
