#include "api/codec/envelope.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include "api/codec/wire.hpp"
#include "api/schema/runtime.pb.h"

namespace troupe::api {
namespace {

using runtime::TypeMeta;
using runtime::Unknown;

constexpr std::string_view magic("k8s\0", 4);

bool read_type_meta(std::string_view bytes, envelope& out) {
  wire::reader fields(bytes);
  for (wire::field f; fields.next(f);) {
    if (f.form != wire::type::bytes) return false;
    if (f.number == TypeMeta::kApiVersionFieldNumber) out.api_version = f.bytes;
    if (f.number == TypeMeta::kKindFieldNumber) out.kind = f.bytes;
  }
  return fields.ok();
}

// `size` is content.ByteSizeLong(), which the caller must have called.
void append_sized(std::string& out, const body& content, std::size_t size) {
  const std::size_t before = out.size();
  out.resize(before + size);
  google::protobuf::io::ArrayOutputStream array(out.data() + before, static_cast<int>(size));
  google::protobuf::io::CodedOutputStream stream(&array);
  stream.SetSerializationDeterministic(true);
  content.SerializeWithCachedSizes(&stream);
}

tl::unexpected<error> refused(std::string_view reason) {
  return fail(bad_request("the body is not a Kubernetes protobuf object: " + std::string(reason)));
}

}  // namespace

expected<envelope> open_envelope(std::string_view bytes) {
  if (!bytes.starts_with(magic)) return refused("it does not begin with the bytes \"k8s\\x00\"");
  envelope out;
  wire::reader fields(bytes.substr(magic.size()));
  for (wire::field f; fields.next(f);) {
    if (f.number > Unknown::kContentTypeFieldNumber) continue;
    if (f.form != wire::type::bytes) return refused("its envelope has a field of the wrong type");
    switch (f.number) {
      case Unknown::kTypeMetaFieldNumber:
        if (!read_type_meta(f.bytes, out)) return refused("its typeMeta is malformed");
        break;
      case Unknown::kRawFieldNumber:
        out.raw = f.bytes;
        break;
      case Unknown::kContentEncodingFieldNumber:
        if (!f.bytes.empty()) return refused("contentEncoding is not supported");
        break;
      case Unknown::kContentTypeFieldNumber:
        out.content_type = f.bytes;
        break;
    }
  }
  if (!fields.ok()) return refused("its envelope is cut off or malformed");
  return out;
}

void append_envelope_head(std::string& out, std::string_view api_version, std::string_view kind,
                          std::size_t size) {
  std::string type_meta;
  wire::append_bytes(type_meta, TypeMeta::kApiVersionFieldNumber, api_version);
  wire::append_bytes(type_meta, TypeMeta::kKindFieldNumber, kind);
  out.reserve(out.size() + magic.size() + type_meta.size() + size + 16);
  out += magic;
  wire::append_bytes(out, Unknown::kTypeMetaFieldNumber, type_meta);
  wire::append_varint(out, wire::tag(Unknown::kRawFieldNumber, wire::type::bytes));
  wire::append_varint(out, size);
}

void append_envelope_tail(std::string& out) {
  wire::append_bytes(out, Unknown::kContentEncodingFieldNumber, {});
  wire::append_bytes(out, Unknown::kContentTypeFieldNumber, {});
}

void append_wire(std::string& out, const body& content) {
  append_sized(out, content, content.ByteSizeLong());
}

void append_envelope(std::string& out, std::string_view api_version, std::string_view kind,
                     const body& content) {
  const std::size_t size = content.ByteSizeLong();
  append_envelope_head(out, api_version, kind, size);
  append_sized(out, content, size);
  append_envelope_tail(out);
}

}  // namespace troupe::api
