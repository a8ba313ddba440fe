// Field selectors: fields are named by JSON paths and resolved by reflection once, when the
// selector is parsed.
#include <google/protobuf/message.h>

#include <algorithm>

#include "api/codec/json_text.hpp"
#include "api/kind_row.hpp"
#include "api/object/custom_body.hpp"
#include "api/scheme.hpp"
#include "api/selectors/field_terms.hpp"
#include "api/selectors/selector.hpp"
#include "api/type_info.hpp"
#include "api/values/text_parts.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool selectable(const kind_info& kind, std::string_view path) {
  if (path == "metadata.name") return true;
  if (path == "metadata.namespace") return kind.namespaced();
  const auto& offered = kind.options().selectable_fields();
  return std::find(offered.begin(), offered.end(), path) != offered.end();
}

const Message* walk(const Message& from, const std::vector<const FieldDescriptor*>& chain) {
  const Message* at = &from;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    const auto* reflection = at->GetReflection();
    if (!reflection->HasField(*at, chain[i])) return nullptr;
    at = &reflection->GetMessage(*at, chain[i]);
  }
  return at;
}

// Compares the field with text, without a copy if the field is a string.
bool same(const Message* holder, const FieldDescriptor* field, std::string_view text) {
  const bool set = holder && holder->GetReflection()->HasField(*holder, field);
  std::string scratch;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (!set) return text.empty();
      return holder->GetReflection()->GetStringReference(*holder, field, &scratch) == text;
    case FieldDescriptor::CPPTYPE_BOOL:
      return text == (set && holder->GetReflection()->GetBool(*holder, field) ? "true" : "false");
    case FieldDescriptor::CPPTYPE_INT32:
      return text == std::to_string(set ? holder->GetReflection()->GetInt32(*holder, field) : 0);
    case FieldDescriptor::CPPTYPE_INT64:
      return text == std::to_string(set ? holder->GetReflection()->GetInt64(*holder, field) : 0);
    default:
      return false;
  }
}

// Kinds without fields of their own have other words.
//
// kubernetes: apimachinery/pkg/runtime/conversion.go.
error unknown_field(const kind_info& kind, const std::string& path) {
  if (kind.custom() || kind.options().selectable_fields_size() > 0)
    return bad_request("field label not supported: " + path);
  return bad_request(quoted(path) +
                     " is not a known field selector: only \"metadata.name\", "
                     "\"metadata.namespace\"");
}

}  // namespace

bool field_selector::compile(const kind_info& kind, term& t) {
  if (!selectable(kind, t.path)) return false;
  if (kind.custom() && !t.path.starts_with("metadata.")) {
    t.custom = kind.rules()->shared_from_this();
    return true;
  }
  const auto* shape = kind.row().shape;
  if (shape != nullptr) t.path = shape->field(t.path);
  const auto* type = &type_info::of(home_of(kind).type());
  const auto step = [&](std::string_view name) {
    const auto* found = type ? type->find(name) : nullptr;
    if (!found || found->info->field->is_repeated()) return false;
    t.chain.insert(t.chain.end(), found->through.begin(), found->through.end());
    t.chain.push_back(found->info->field);
    type = found->info->type;
    return true;
  };
  for (std::string_view rest = t.path; !rest.empty();) {
    if (!step(take_part(rest, '.'))) return false;
  }
  // A path that ends at a message means its component (Event `source`).
  return !type || step("component");
}

expected<field_selector> field_selector::parse(const kind_info& kind, std::string_view text) {
  auto parsed = parse_field_terms(text);
  if (!parsed) return fail(std::move(parsed.error()));
  field_selector made;
  for (auto& each : *parsed) {
    term t;
    t.path = std::move(each.path);
    t.value = std::move(each.value);
    t.equal = each.equal;
    if (!compile(kind, t)) return fail(unknown_field(kind, t.path));
    made.terms_.push_back(std::move(t));
  }
  return made;
}

bool field_selector::matches(const body& content) const {
  for (const auto& t : terms_) {
    if (t.custom != nullptr) {
      if ((t.custom->field(as_custom(content), t.path) == t.value) != t.equal) return false;
      continue;
    }
    if (same(walk(content, t.chain), t.chain.back(), t.value) != t.equal) return false;
  }
  return true;
}

// Selectable fields are strings in the stored form, so their values are in the bytes unchanged.
bool field_selector::may_match(std::string_view stored) const {
  return std::all_of(terms_.begin(), terms_.end(), [stored](const term& t) {
    return !t.equal || stored.find(t.value) != std::string_view::npos;
  });
}

std::optional<std::string_view> field_selector::exact(std::string_view path) const {
  for (const auto& t : terms_) {
    if (t.equal && t.path == path) return t.value;
  }
  return std::nullopt;
}

}  // namespace troupe::api
