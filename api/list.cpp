#include "api/list.hpp"

#include "api/codec.hpp"
#include "api/envelope.hpp"
#include "api/invariant.hpp"
#include "api/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/wire.hpp"

namespace troupe::api {
namespace {

// Every list has its metadata and its items there.
constexpr std::uint32_t metadata_number = 1;
constexpr std::uint32_t items_number = 2;

meta::v1::ListMeta metadata_of(const list_header& header) {
  meta::v1::ListMeta out;
  out.set_resource_version(std::string(header.resource_version));
  if (!header.continue_token.empty()) out.set_continue_(std::string(header.continue_token));
  if (header.remaining) out.set_remaining_item_count(*header.remaining);
  return out;
}

std::string_view raw_of(const object& item) {
  const auto opened = open_envelope(item.protobuf());
  ensure(opened.has_value(), "an object's protobuf form is an envelope");
  return opened->raw;
}

std::size_t field_size(std::size_t size_bytes) {
  return 1 + wire::varint_size(size_bytes) + size_bytes;
}

}  // namespace

std::string list_kind(const kind_info& kind) {
  return kind.kind() + "List";
}

void append_list_json(std::string& out, const list_header& header,
                      const std::vector<object_ptr>& items) {
  std::size_t size = 256 + header.continue_token.size();
  for (const object_ptr& each : items)
    size += each->json().size() + 1;
  out.reserve(out.size() + size);
  out += "{\"kind\":\"";
  out += header.kind;
  out += "\",\"apiVersion\":\"";
  out += header.api_version;
  out += "\",\"metadata\":";
  append_json(out, metadata_of(header), {}, {});
  out += ",\"items\":[";
  for (const object_ptr& each : items) {
    if (&each != &items.front()) out += ',';
    out += each->json();
  }
  out += "]}";
}

void append_list_protobuf(std::string& out, const list_header& header,
                          const std::vector<object_ptr>& items) {
  std::string metadata;
  append_wire(metadata, metadata_of(header));
  std::vector<std::string_view> raw;
  raw.reserve(items.size());
  std::size_t size = field_size(metadata.size());
  for (const object_ptr& each : items) {
    raw.push_back(raw_of(*each));
    size += field_size(raw.back().size());
  }
  append_envelope_head(out, header.api_version, header.kind, size);
  wire::append_bytes(out, metadata_number, metadata);
  for (const std::string_view each : raw)
    wire::append_bytes(out, items_number, each);
  append_envelope_tail(out);
}

}  // namespace troupe::api
