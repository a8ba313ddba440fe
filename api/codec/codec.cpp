#include "api/codec/codec.hpp"

#include <google/protobuf/message.h>

#include "api/codec/canonical_wire.hpp"
#include "api/codec/custom_json.hpp"
#include "api/codec/encode_count.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/json_decode.hpp"
#include "api/codec/json_encode.hpp"
#include "api/codec/json_text.hpp"
#include "api/codec/type_plan.hpp"
#include "api/scheme.hpp"

namespace troupe::api {
namespace {

// A document and the type names in it.
struct document {
  std::string text;  // YAML converted to JSON
  std::string_view bytes;
  media form = media::json;
  type_names names;  // for protobuf: from the envelope
};

std::string_view version_of(std::string_view api_version) {
  return api_version.substr(api_version.rfind('/') + 1);
}

// The message of upstream's handlers, as kubectl shows it.
error cannot_be_handled(const type_names& names, const kind_info& kind, std::string_view reason) {
  const std::string_view given_kind = names.kind.empty() ? kind.kind() : names.kind;
  const std::string_view given_version =
      names.api_version.empty() ? kind.api_version() : names.api_version;
  return bad_request(std::string(given_kind) + " in version " + quoted(version_of(given_version)) +
                     " cannot be handled as a " + kind.kind() + ": " + std::string(reason));
}

// The offset of the first byte that cannot start JSON (YAML for example); npos if it may be JSON.
std::size_t beginning_of_other(std::string_view bytes) {
  const auto first = bytes.find_first_not_of(" \t\r\n");
  constexpr std::string_view starts = "{[\"-0123456789tfn";
  return first == bytes.npos || starts.find(bytes[first]) != starts.npos ? bytes.npos : first;
}

std::string hex(unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {digits[byte >> 4], digits[byte & 15]};
}

// kubernetes: apiserver/pkg/endpoints/handlers, transformDecodeError and summarizeData.
error unrecognized(const kind_info& kind, std::string_view bytes, std::string_view reason) {
  constexpr std::size_t shown_bytes = 30;
  std::string text;
  for (const unsigned char byte : bytes.substr(0, shown_bytes))
    text += hex(byte);
  if (bytes.size() > shown_bytes) text += " ...";
  return bad_request("the object provided is unrecognized (must be of type " + kind.kind() +
                     "): " + std::string(reason) + " (" + text + ")");
}

std::string no_json_begins_with(unsigned char first) {
  const bool plain = first > ' ' && first < 0x7f && first != '\'';
  return "couldn't get version/kind; json parse error: invalid character '" +
         (plain ? std::string(1, static_cast<char>(first)) : "\\x" + hex(first)) +
         "' looking for beginning of value";
}

expected<document> open(std::string_view bytes, media form, const decode_options& options) {
  if (bytes.size() > options.size_limit_bytes)
    return fail(request_too_large("Request entity", options.size_limit_bytes));
  document out;
  out.bytes = bytes;
  out.form = form;
  if (form == media::yaml) {
    auto json = yaml_to_json(bytes, options);
    if (!json) return fail(std::move(json.error()));
    out.text = std::move(*json);
    out.form = media::json;
  }
  if (form == media::protobuf) {
    auto opened = open_envelope(bytes);
    if (!opened) return fail(std::move(opened.error()));
    out.bytes = opened->raw;
    out.names = {std::string(opened->api_version), std::string(opened->kind)};
    if (opened->content_type == "application/json") out.form = media::json;
  }
  return out;
}

std::string_view content_of(const document& doc) {
  return doc.text.empty() ? doc.bytes : std::string_view(doc.text);
}

tl::expected<wire_document, std::string> to_wire(const document& doc, const type_plan& type,
                                                 const decode_options& options) {
  if (doc.form == media::json) {
    auto read = json_to_wire(content_of(doc), type, options);
    if (read && read->kind.empty()) read->kind = doc.names.kind;
    if (read && read->api_version.empty()) read->api_version = doc.names.api_version;
    return read;
  }
  auto wire = canonical_wire(doc.bytes, type, options);
  if (!wire) return tl::make_unexpected(std::move(wire.error()));
  return wire_document{std::move(*wire), doc.names.api_version, doc.names.kind, {}};
}

std::string joined(const std::vector<std::string>& problems) {
  std::string out = "strict decoding error: ";
  for (const std::string& each : problems) {
    if (&each != &problems.front()) out += ", ";
    out += each;
  }
  return out;
}

// The reason why an object with these names is not of `kind`; empty if it is.
std::string objection(const type_names& given, const kind_info& kind,
                      std::string_view also_version) {
  const auto& [given_version, given_kind] = given;
  if (!given_version.empty() && given_version != kind.api_version() &&
      given_version != also_version)
    return "the API version in the data (" + std::string(given_version) +
           ") does not match the expected API version (" + kind.api_version() + ")";
  if (!given_kind.empty() && given_kind != kind.kind())
    return "the kind in the data (" + std::string(given_kind) +
           ") does not match the expected kind (" + kind.kind() + ")";
  return {};
}

expected<kind_handle> find_kind(const type_names& names) {
  if (names.kind.empty()) return fail(bad_request("Object 'Kind' is missing"));
  if (names.api_version.empty()) return fail(bad_request("Object 'apiVersion' is missing"));
  auto found = scheme::instance().find(names.api_version, names.kind);
  if (found) return found;
  return fail(bad_request("no kind " + quoted(names.kind) + " is registered for version " +
                          quoted(names.api_version)));
}

expected<decoded> decode_custom(const document& doc, const kind_info& kind,
                                const decode_options& options) {
  if (doc.form != media::json)
    return fail(unsupported_media_type("application/vnd.kubernetes.protobuf",
                                       "application/json, application/yaml"));
  auto read = read_custom(content_of(doc), options);
  if (!read) return fail(cannot_be_handled(doc.names, kind, read.error()));
  const type_names names{read->api_version, read->kind};
  if (const auto other = objection(names, kind, options.also_version); !other.empty())
    return fail(cannot_be_handled(names, kind, other));
  if (options.fields == field_validation::strict && !read->problems.empty())
    return fail(cannot_be_handled(names, kind, joined(read->problems)));
  return decoded{&kind, std::move(read->content), std::move(read->problems)};
}

bool parse_wire(const std::string& wire, body& into) {
  return into.ParseFromArray(wire.data(), static_cast<int>(wire.size()));
}

}  // namespace

expected<decoded> decode(std::string_view bytes, media form, const kind_info* expected_kind,
                         const decode_options& options) {
  auto doc = open(bytes, form, options);
  if (!doc) {
    const bool malformed = form == media::yaml && doc.error().code == 400;
    if (!malformed || expected_kind == nullptr) return fail(std::move(doc.error()));
    return fail(unrecognized(*expected_kind, bytes, doc.error().message));
  }
  kind_handle kind = expected_kind;
  if (!kind) {
    if (doc->names.kind.empty()) doc->names = find_type_names(content_of(*doc));
    auto found = find_kind(doc->names);
    if (!found) return fail(std::move(found.error()));
    kind = std::move(*found);
  }
  if (form == media::json)
    if (const auto other = beginning_of_other(bytes); other != bytes.npos)
      return fail(unrecognized(*kind, bytes,
                               no_json_begins_with(static_cast<unsigned char>(bytes[other]))));
  if (kind->custom()) return decode_custom(*doc, *kind, options);
  auto read = to_wire(*doc, type_plan::of(kind->type()), options);
  if (!read) {
    // A different kind than expected explains the error better than a field that does not
    // fit.
    if (doc->form == media::json) doc->names = find_type_names(content_of(*doc));
    const std::string other = objection(doc->names, *kind, options.also_version);
    return fail(cannot_be_handled(doc->names, *kind, other.empty() ? read.error() : other));
  }
  const type_names names{read->api_version, read->kind};
  if (const auto other = objection(names, *kind, options.also_version); !other.empty())
    return fail(cannot_be_handled(names, *kind, other));
  if (options.fields == field_validation::strict && !read->problems.empty())
    return fail(cannot_be_handled(names, *kind, joined(read->problems)));
  decoded out{kind, kind->make(), std::move(read->problems)};
  if (!parse_wire(read->wire, *out.content))
    return fail(cannot_be_handled(names, *kind, "proto: malformed"));
  return out;
}

expected<std::vector<std::string>> decode_into(std::string_view bytes, media form, body& into,
                                               const decode_options& options) {
  auto doc = open(bytes, form, options);
  if (!doc) return fail(std::move(doc.error()));
  auto read = to_wire(*doc, type_plan::of(*into.GetDescriptor()), options);
  if (!read) return fail(bad_request(std::move(read.error())));
  if (options.fields == field_validation::strict && !read->problems.empty())
    return fail(bad_request(joined(read->problems)));
  if (!parse_wire(read->wire, into)) return fail(bad_request("proto: malformed"));
  return std::move(read->problems);
}

void append_json(std::string& out, const body& content, std::string_view api_version,
                 std::string_view kind) {
  if (content.GetDescriptor() == CustomBody::descriptor())
    return append_custom_json(out, static_cast<const CustomBody&>(content), api_version, kind);
  std::string wire;
  append_wire(wire, content);
  append_json(out, type_plan::of(*content.GetDescriptor()), wire, api_version, kind);
}

std::string encode_json(const body& content, std::string_view api_version, std::string_view kind) {
  count_encoded_text();
  std::string out;
  append_json(out, content, api_version, kind);
  return out;
}

std::string encode_protobuf(const body& content, std::string_view api_version,
                            std::string_view kind) {
  count_encoded_text();
  std::string out;
  append_envelope(out, api_version, kind, content);
  return out;
}

}  // namespace troupe::api
