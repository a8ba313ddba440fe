#include "api/storage/upstream_form.hpp"

#include <google/protobuf/message.h>

#include "api/codec/codec.hpp"
#include "api/codec/custom_json.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/go_json.hpp"
#include "api/codec/json_decode.hpp"
#include "api/codec/json_dom.hpp"
#include "api/codec/type_plan.hpp"
#include "api/object/object.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/schema/apiregistration_v1.pb.h"
#include "api/storage/definition_version.hpp"
#include "api/storage/stored_versions.hpp"
#include "api/storage/upstream_order.hpp"
#include "api/storage/zeros.hpp"

namespace troupe::api {

namespace {

constexpr std::string_view encrypted_prefix = "k8s:enc:";

std::unique_ptr<body> make(const google::protobuf::Descriptor& type) {
  auto* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
  return std::unique_ptr<body>(prototype->New());
}

bool is_stored_as_json(const kind_info& kind) {
  return &kind.type() == apiextensions::v1::CustomResourceDefinition::descriptor() ||
         &kind.type() == apiregistration::v1::APIService::descriptor();
}

std::string with_owners_in_order(std::string_view json) {
  json_document tree;
  if (!parse_json(tree, json, "object")) return std::string{json};
  order_owners(tree, tree.GetAllocator());
  std::string out;
  append_ordered_json(out, tree);
  return out;
}

// Go sorts the members of a map by name.
std::string custom_to_upstream(std::string_view stored) {
  local_document tree;
  if (!tree.read(stored, "object")) return std::string{stored};
  std::string out;
  append_canonical_json(out, *tree);
  return as_go_writes(out) + '\n';
}

expected<std::string> custom_from_upstream(std::string_view value) {
  decode_options options;
  options.size_limit_bytes = std::max(options.size_limit_bytes, value.size());
  auto read = read_custom(value, options);
  if (!read) return fail(internal(read.error()));
  read->content->mutable_metadata()->clear_resource_version();
  std::string out;
  append_custom_json(out, *read->content, read->api_version, read->kind);
  return out;
}

std::string json_to_upstream(const kind_info& kind, std::string_view raw, int minor) {
  const auto content = kind.make();
  if (!content->ParseFromArray(raw.data(), static_cast<int>(raw.size()))) return {};
  const auto api_version = stored_api_version(kind, minor);
  std::string out;
  append_json(out, *content, api_version, kind.kind());
  if (is_old_definition(kind, api_version)) {
    auto old = definition_to_v1beta1(out);
    if (old) return as_go_writes(*old) + '\n';
    // It nests too deep for a tree; 1.20 reads v1 too.
    out.clear();
    append_json(out, *content, kind.api_version(), kind.kind());
  }
  if (!meta_of(*content).owner_references().empty()) out = with_owners_in_order(out);
  return as_go_writes(out) + '\n';
}

// Go's escapes would stay in schemas and in sets of fields, which are kept as text.
std::string without_escapes(std::string_view value) {
  json_document tree;
  if (!parse_json(tree, value, "object")) return std::string{value};
  std::string out;
  append_ordered_json(out, tree);
  return out;
}

expected<std::string> json_from_upstream(const kind_info& kind, std::string_view value) {
  const auto names = find_type_names(value);
  const auto changed = is_old_definition(kind, names.api_version)
                           ? definition_from_v1beta1(value)
                           : expected<std::string>{without_escapes(value)};
  if (!changed) return fail(changed.error());
  decode_options options;
  options.also_version = names.api_version;
  options.size_limit_bytes = std::max(options.size_limit_bytes, changed->size());
  auto read = decode(*changed, media::json, &kind, options);
  if (!read) return fail(std::move(read.error()));
  meta_of(*read->content).clear_resource_version();
  return to_storage(kind, *read->content);
}

expected<std::string> protobuf_from_upstream(const kind_info& kind, std::string_view value) {
  auto opened = open_envelope(value);
  if (!opened) return fail(std::move(opened.error()));
  const auto version = find_stored_version(kind, opened->api_version);
  if (opened->kind != kind.kind() || version.form == stored_form::unknown)
    return fail(internal("it is a " + std::string(opened->kind) + " of " +
                         std::string(opened->api_version) + ", which is not known here"));
  const auto& type = version.form == stored_form::shape ? version.shape->type : kind.type();
  auto raw = without_zeros(type_plan::of(type), opened->raw);
  if (!raw) return fail(internal("its protobuf is malformed"));
  if (version.form == stored_form::same) {
    std::string out;
    append_envelope_head(out, kind.api_version(), kind.kind(), raw->size());
    out += *raw;
    append_envelope_tail(out);
    return out;
  }
  const auto stored = make(type);
  if (!stored->ParseFromString(*raw)) return fail(internal("its protobuf is malformed"));
  const auto home = kind.make();
  version.shape->read(*stored, *home);
  return to_storage(kind, *home);
}

// `raw` is an object of a kind whose storage version depends on the object, or differs in form from
// the home version.
std::string other_to_upstream(const kind_info& kind, std::string_view raw, int minor,
                              std::string& api_version, const google::protobuf::Descriptor*& type) {
  const auto home = kind.make();
  if (!home->ParseFromArray(raw.data(), static_cast<int>(raw.size()))) return std::string{raw};
  api_version = stored_api_version(kind, *home, minor);
  const auto version = find_stored_version(kind, api_version);
  if (version.form != stored_form::shape) return std::string{raw};
  type = &version.shape->type;
  const auto stored = make(*type);
  version.shape->write(*home, *stored);
  std::string changed;
  append_wire(changed, *stored);
  return changed;
}

}  // namespace

std::optional<encryption> find_encryption(std::string_view value) {
  if (!value.starts_with(encrypted_prefix)) return std::nullopt;
  encryption found;
  value.remove_prefix(encrypted_prefix.size());
  const auto next = [&value] {
    const auto end = value.find(':');
    const auto word = value.substr(0, end);
    value.remove_prefix(end == value.npos ? value.size() : end + 1);
    return word;
  };
  found.provider = next();
  next();  // the number of its form
  found.key = next();
  return found;
}

std::string to_upstream(const kind_info* kind, std::string_view stored, int minor) {
  if (stored.starts_with('{')) return custom_to_upstream(stored);
  if (kind == nullptr) return std::string{stored};
  const auto opened = open_envelope(stored);
  if (!opened) return std::string{stored};
  if (is_stored_as_json(*kind)) {
    auto json = json_to_upstream(*kind, opened->raw, minor);
    return json.empty() ? std::string{stored} : json;
  }
  const auto* type = &kind->type();
  auto api_version = stored_api_version(*kind, minor);
  std::string changed;
  auto raw = opened->raw;
  if (!has_one_stored_version(*kind, minor) ||
      find_stored_version(*kind, api_version).form == stored_form::shape) {
    changed = other_to_upstream(*kind, raw, minor, api_version, type);
    raw = changed;
  }
  const auto filled = with_zeros(type_plan::of(*type), raw, minor);
  if (!filled) return std::string{stored};
  std::string out;
  append_envelope_head(out, api_version, kind->kind(), filled->size());
  out += *filled;
  append_envelope_tail(out);
  return out;
}

expected<std::string> from_upstream(const kind_info* kind, std::string_view value) {
  if (kind != nullptr && !kind->custom())
    return value.starts_with('{') ? json_from_upstream(*kind, value)
                                  : protobuf_from_upstream(*kind, value);
  if (value.starts_with('{')) return custom_from_upstream(value);
  return std::string{value};
}

}  // namespace troupe::api
