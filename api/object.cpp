#include "api/object.hpp"

#include <google/protobuf/message.h>

#include <optional>

#include "api/codec.hpp"
#include "api/envelope.hpp"
#include "api/invariant.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/wire.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using meta::v1::ObjectMeta;

// Every kind has its metadata there.
constexpr int metadata_number = 1;

const FieldDescriptor& metadata_field(const body& content) {
  const auto* field = content.GetDescriptor()->FindFieldByNumber(metadata_number);
  ensure(field != nullptr && field->message_type() == ObjectMeta::descriptor(),
         "field 1 of an object is its ObjectMeta");
  return *field;
}

// The first to finish publishes; what others made meanwhile is dropped.
template <class Encode>
const std::string& once(std::atomic<const std::string*>& cache, Encode encode) {
  if (const auto* known = cache.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<std::string>(encode());
  made->shrink_to_fit();
  const std::string* known = nullptr;
  if (cache.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *known;
}

// `raw` without metadata.resourceVersion. A field of that number and another form is one that
// protobuf keeps without knowing it. So it does with groups, which the reader takes for malformed:
// null where there are any.
std::optional<std::string> without_revision(std::string_view raw) {
  const auto is = [](const wire::field& f, int number) {
    return f.form == wire::type::bytes && f.number == static_cast<std::uint32_t>(number);
  };
  std::string out;
  out.reserve(raw.size());
  wire::reader fields(raw);
  for (wire::field f; fields.next(f);) {
    if (!is(f, metadata_number)) {
      out += f.whole;
      continue;
    }
    std::string kept;
    wire::reader inner(f.bytes);
    for (wire::field m; inner.next(m);)
      if (!is(m, ObjectMeta::kResourceVersionFieldNumber)) kept += m.whole;
    if (!inner.ok()) return std::nullopt;
    wire::append_bytes(out, metadata_number, kept);
  }
  if (!fields.ok()) return std::nullopt;
  return out;
}

std::string enclose(const kind_info& kind, std::string_view raw) {
  std::string out;
  append_envelope_head(out, kind.api_version(), kind.kind(), raw.size());
  out += raw;
  append_envelope_tail(out);
  return out;
}

error unreadable(const kind_info& kind, std::string_view why) {
  return internal("a stored object of kind " + kind.kind() +
                  " cannot be read: " + std::string(why));
}

}  // namespace

object::object(const kind_info& kind, std::unique_ptr<body> content, std::uint64_t revision)
    : kind_(kind), content_(std::move(content)), revision_(revision) {
  ensure(content_ != nullptr && content_->GetDescriptor() == &kind_.type(),
         "an object's body is of its kind");
  ObjectMeta& meta = meta_of(*content_);
  if (revision == 0)
    meta.clear_resource_version();
  else
    meta.set_resource_version(std::to_string(revision));
  meta_ = &meta;
}

object::~object() {
  delete json_.load(std::memory_order_relaxed);
  delete protobuf_.load(std::memory_order_relaxed);
}

expected<object_ptr> object::from_storage(const kind_info& kind, std::string_view bytes,
                                          std::uint64_t revision) {
  auto opened = open_envelope(bytes);
  if (!opened) return fail(unreadable(kind, opened.error().message));
  if (opened->kind != kind.kind() || opened->api_version != kind.api_version())
    return fail(unreadable(kind, "it says it is " + std::string(opened->api_version) + " " +
                                     std::string(opened->kind)));
  auto content = kind.make();
  if (!content->ParseFromArray(opened->raw.data(), static_cast<int>(opened->raw.size())))
    return fail(unreadable(kind, "its protobuf is malformed"));
  return std::make_shared<const object>(kind, std::move(content), revision);
}

std::unique_ptr<body> object::copy() const {
  std::unique_ptr<body> made(content_->New());
  made->CopyFrom(*content_);
  return made;
}

const std::string& object::json() const {
  return once(json_, [this] { return encode_json(*content_, kind_.api_version(), kind_.kind()); });
}

const std::string& object::protobuf() const {
  return once(protobuf_,
              [this] { return encode_protobuf(*content_, kind_.api_version(), kind_.kind()); });
}

const body& object::checked(const google::protobuf::Descriptor& type) const {
  ensure(&type == &kind_.type(), "an object is read as the kind that it is");
  return *content_;
}

std::string to_storage(const kind_info& kind, const body& content) {
  std::string raw;
  append_wire(raw, content);
  if (!meta_of(content).has_resource_version()) return enclose(kind, raw);
  if (const auto kept = without_revision(raw)) return enclose(kind, *kept);
  std::unique_ptr<body> copy(content.New());
  copy->CopyFrom(content);
  meta_of(*copy).clear_resource_version();
  return to_storage(kind, *copy);
}

const ObjectMeta& meta_of(const body& content) {
  const FieldDescriptor& field = metadata_field(content);
  return static_cast<const ObjectMeta&>(content.GetReflection()->GetMessage(content, &field));
}

ObjectMeta& meta_of(body& content) {
  const FieldDescriptor& field = metadata_field(content);
  return static_cast<ObjectMeta&>(*content.GetReflection()->MutableMessage(&content, &field));
}

}  // namespace troupe::api
