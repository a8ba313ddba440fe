// Applies the rules of a version to objects.
#include <algorithm>
#include <limits>

#include "api/codec/codec.hpp"
#include "api/codec/json_text.hpp"
#include "api/custom/custom_values.hpp"
#include "api/custom/custom_version.hpp"
#include "api/invariant.hpp"
#include "api/limits.hpp"
#include "api/object/custom_body.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/structural/complete.hpp"
#include "api/structural/validate.hpp"
#include "api/validation/field_errors.hpp"

namespace troupe::api {
namespace {

// Returns false if the defaults are too large: then nothing is changed.
bool complete(const structural_schema& schema, CustomBody& content,
              std::vector<std::string>* unknown) {
  local_document local;
  auto& tree = *local;
  read_rest(local, content);
  const bool pruned = prune(tree, schema.root, tree.GetAllocator(), unknown);
  const auto done = set_defaults(tree, schema.root, tree.GetAllocator());
  if (done == completion::too_large) return false;
  if (done == completion::changed || pruned) write_rest(content, tree);
  return true;
}

error strict_error(const std::string& kind, const std::string& version,
                   const std::vector<std::string>& lines) {
  std::string text = kind + " in version " + quoted(version) + " cannot be handled as a " + kind +
                     ": strict decoding error: ";
  for (const auto& each : lines) {
    if (&each != &lines.front()) text += ", ";
    text += each;
  }
  return bad_request(std::move(text));
}

void check_name(field_errors& out, const schema_node* node, const char* field,
                const std::string& name) {
  if (node == nullptr || name.empty()) return;
  const auto metadata = out.at.field("metadata");
  const auto step = out.at.field(field);
  const json_value value{
      rapidjson::StringRef(name.data(), static_cast<rapidjson::SizeType>(name.size()))};
  validate(out, *node, value, nullptr);
}

std::optional<std::int32_t> number_at(custom_values& values, const json_path& path) {
  const auto* found = values.first(path);
  if (found == nullptr || !found->IsNumber()) return std::nullopt;
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(found->GetDouble(), -most, most));
}

}  // namespace

expected<std::vector<std::string>> custom_version::complete(CustomBody& content,
                                                            field_validation fields) const {
  std::vector<std::string> unknown;
  if (schema() == nullptr) return unknown;
  if (!api::complete(*schema(), content, fields == field_validation::ignore ? nullptr : &unknown))
    return fail(
        request_too_large("the object with the defaults of its schema", limits::document_bytes));
  for (auto& each : unknown)
    each = "unknown field " + quoted(each);
  if (fields == field_validation::strict && !unknown.empty())
    return fail(strict_error(whole().spec().names().kind(), said_.name(), unknown));
  return unknown;
}

void custom_version::complete_stored(CustomBody& content) const {
  // If a newer schema's defaults would be too large, the object is shown as it is stored.
  if (schema() != nullptr) api::complete(*schema(), content, nullptr);
}

void custom_version::check(field_errors& out, const CustomBody& now, const CustomBody* was,
                           part of) const {
  if (schema() == nullptr) return;
  local_document local, local_before;
  auto& tree = *local;
  auto& before = *local_before;
  read_rest(local, now);
  if (was != nullptr) read_rest(local_before, *was);
  if (of == part::object) {
    const auto& meta = now.metadata();
    check_name(out, schema()->name.get(), "name", meta.name());
    check_name(out, schema()->generate_name.get(), "generateName", meta.generate_name());
    return validate(out, schema()->root, tree, was == nullptr ? nullptr : &before);
  }
  const auto* node = schema()->root.find("status");
  const auto* status = find_member(tree, "status");
  if (node == nullptr || status == nullptr) return;
  const auto step = out.at.field("status");
  validate(out, *node, *status, was == nullptr ? nullptr : find_member(before, "status"));
}

std::vector<std::string> custom_version::replicas_path() const {
  ensure(scale_.has_value(), "a kind with has_scale says where the numbers stand");
  std::vector<std::string> names;
  for (const auto& each : scale_->wanted.steps())
    names.push_back(each.name);
  return names;
}

expected<version_rules::replicas> custom_version::scale(const CustomBody& content) const {
  ensure(scale_.has_value(), "a kind with has_scale says where the numbers stand");
  custom_values values{content};
  const auto wanted = number_at(values, scale_->wanted);
  if (!wanted)
    return fail(internal("the spec replicas field " +
                         quoted(said_.subresources().scale().spec_replicas_path()) +
                         " does not exist"));
  return replicas{
      .wanted = *wanted,
      .actual = number_at(values, scale_->actual).value_or(0),
      .selector = scale_->selector ? plain_text(values.first(*scale_->selector)) : std::string{}};
}

expected<void> custom_version::set_replicas(CustomBody& content, std::int32_t wanted) const {
  ensure(scale_.has_value(), "a kind with has_scale says where the numbers stand");
  json_document tree;
  read_rest(tree, content);
  auto& allocator = tree.GetAllocator();
  json_value* at = &tree;
  for (const auto& each : scale_->wanted.steps()) {
    if (!at->IsObject())
      return fail(internal("the replicas cannot be set: the parent of " + quoted(each.name) +
                           " is not an object"));
    auto* found = find_member(*at, each.name);
    if (found == nullptr) {
      at->AddMember(make_text(each.name, allocator), json_value(rapidjson::kObjectType), allocator);
      found = &(at->MemberEnd() - 1)->value;
    }
    at = found;
  }
  at->SetInt(wanted);
  write_rest(content, tree);
  return {};
}

}  // namespace troupe::api
