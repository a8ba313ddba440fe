#include "api/object/object.hpp"

#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/codec/custom_json.hpp"
#include "api/codec/encode_count.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/json_decode.hpp"
#include "api/codec/json_encode.hpp"
#include "api/codec/type_plan.hpp"
#include "api/codec/wire.hpp"
#include "api/invariant.hpp"
#include "api/object/custom_body.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using meta::v1::ObjectMeta;

// The field number of the metadata in every kind.
constexpr int metadata_number = 1;

// Called dozens of times for one write: caches the answer for the last type. Descriptors live as
// long as the program.
const FieldDescriptor& metadata_field(const body& content) {
  thread_local const FieldDescriptor* last = nullptr;
  const auto* type = content.GetDescriptor();
  if (last != nullptr && last->containing_type() == type) return *last;
  last = type->FindFieldByNumber(metadata_number);
  ensure(last != nullptr && last->message_type() == ObjectMeta::descriptor(),
         "field 1 of an object is its ObjectMeta");
  return *last;
}

std::atomic<std::size_t> all_text_bytes{0};

// The first thread to finish stores its result; results of others are dropped.
template <class Encode>
shared_text once(text_cell& cache, Encode encode) {
  if (auto known = cache.get()) return known;
  count_encoded_text();
  const shared_text made{encode()};
  // Counted before other threads can see the text and forget it.
  all_text_bytes.fetch_add(made.size(), std::memory_order_relaxed);
  auto kept = cache.keep(made);
  if (kept != made) all_text_bytes.fetch_sub(made.size(), std::memory_order_relaxed);
  return kept;
}

void forget(text_cell& cache) {
  if (const auto known = cache.take())
    all_text_bytes.fetch_sub(known.size(), std::memory_order_relaxed);
}

// `raw` with this metadata.resourceVersion, or without one if it is empty. A field of that number
// and another wire type is an unknown field, which protobuf keeps. It keeps groups too, which the
// reader treats as malformed: returns nullopt if there are any.
std::optional<std::string> with_revision(std::string_view raw, std::string_view revision) {
  constexpr auto here = static_cast<std::uint32_t>(ObjectMeta::kResourceVersionFieldNumber);
  const auto is = [](const wire::field& f, std::uint32_t number) {
    return f.form == wire::type::bytes && f.number == number;
  };
  std::string out;
  out.reserve(raw.size() + revision.size() + 4);
  wire::reader fields(raw);
  for (wire::field f; fields.next(f);) {
    if (!is(f, metadata_number)) {
      out += f.bytes_with_tag;
      continue;
    }
    std::string metadata;
    wire::reader inner(f.bytes);
    auto missing = revision;  // to be inserted in the order of fields
    const auto put = [&] {
      if (!missing.empty()) wire::append_bytes(metadata, here, missing);
      missing = {};
    };
    for (wire::field m; inner.next(m);) {
      if (is(m, here)) continue;
      if (m.number > here) put();
      metadata += m.bytes_with_tag;
    }
    if (!inner.ok()) return std::nullopt;
    put();
    wire::append_bytes(out, metadata_number, metadata);
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

error unreadable(const kind_info& kind, std::string_view reason) {
  return internal("a stored object of kind " + kind.kind() +
                  " cannot be read: " + std::string(reason));
}

error another_kind(const kind_info& kind, std::string_view api_version, std::string_view given) {
  return unreadable(kind, "it says it is " + std::string(api_version) + " " + std::string(given));
}

std::string custom_to_storage(const kind_info& kind, const CustomBody& content) {
  std::string out;
  if (content.metadata().has_resource_version()) {
    CustomBody copy(content);
    copy.mutable_metadata()->clear_resource_version();
    append_custom_json(out, copy, kind.api_version(), kind.kind());
  } else {
    append_custom_json(out, content, kind.api_version(), kind.kind());
  }
  return out;
}

// Accepts objects written in any version: custom kinds have no conversion.
expected<std::unique_ptr<body>> custom_from_storage(const kind_info& kind, std::string_view bytes) {
  auto read = read_written_custom(bytes);
  if (!read) return fail(unreadable(kind, read.error()));
  if (read->kind != kind.kind()) return fail(another_kind(kind, read->api_version, read->kind));
  return std::move(read->content);
}

void set_revision(ObjectMeta& meta, std::uint64_t revision) {
  if (revision == 0)
    meta.clear_resource_version();
  else
    meta.set_resource_version(std::to_string(revision));
}

// Its metadata, with the revision in it.
const ObjectMeta& stamp(body& content, std::uint64_t revision) {
  ObjectMeta& meta = meta_of(content);
  set_revision(meta, revision);
  return meta;
}

std::unique_ptr<body> copy_of(const body& from) {
  std::unique_ptr<body> made(from.New());
  made->CopyFrom(from);
  return made;
}

// Of bytes that were read, or made, before.
std::unique_ptr<body> read_again(const kind_info& kind, std::string_view stored) {
  auto content = body_from_storage(kind, stored);
  ensure(content.has_value(), "the stored form of an object can be read again");
  return std::move(*content);
}

// The lock under which an object reads its content for the first time.
std::mutex& lock_of(const object& of) {
  static std::array<std::mutex, 16> locks;
  return locks[std::hash<const object*>{}(&of) / sizeof(object) % locks.size()];
}

}  // namespace

// The type made by encoded(). Objects are destroyed as their real type: by their shared pointers.
struct object::encoded_object final : object {
  encoded_object(const kind_info& of, std::string_view bytes, std::uint64_t at,
                 std::shared_ptr<const void> kept_by)
      : object{of, at, source::stored_form}, stored_form{bytes}, owner{std::move(kept_by)} {}

  const std::string_view stored_form;
  const std::shared_ptr<const void> owner;
};

// What revised() makes.
struct object::revised_object final : object {
  revised_object(object_ptr from, std::uint64_t at)
      : object{from->kind(), at, source::last_state}, last{std::move(from)} {}

  const object_ptr last;
  mutable std::unique_ptr<const ObjectMeta> own_meta;  // read before the content was
};

object::object(const kind_info& kind, std::unique_ptr<body> content, std::uint64_t revision)
    : kind_(&kind), revision_(revision), source_(source::given) {
  ensure(content != nullptr && content->GetDescriptor() == &kind.type(),
         "an object's body is of its kind");
  meta_ = &stamp(*content, revision);
  content_ = content.release();
}

object::object(const kind_info& kind, std::uint64_t revision, source from)
    : kind_(&kind), revision_(revision), source_(from) {}

object::~object() {
  delete content_.load(std::memory_order_relaxed);
  forget(json_);
  forget(protobuf_);
}

expected<object_ptr> object::from_storage(const kind_info& kind, std::string_view bytes,
                                          std::uint64_t revision) {
  auto content = body_from_storage(kind, bytes);
  if (!content) return fail(std::move(content.error()));
  return std::make_shared<const object>(kind, std::move(*content), revision);
}

object_ptr object::encoded(const kind_info& kind, std::string_view stored, std::uint64_t revision,
                           std::shared_ptr<const void> owner) {
  return std::make_shared<const encoded_object>(kind, stored, revision, std::move(owner));
}

const object::encoded_object& object::as_encoded() const noexcept {
  return static_cast<const encoded_object&>(*this);
}

object_ptr object::revised(object_ptr last, std::uint64_t revision) {
  return std::make_shared<const revised_object>(std::move(last), revision);
}

const object::revised_object& object::as_revised() const noexcept {
  return static_cast<const revised_object&>(*this);
}

std::string_view object::stored() const noexcept {
  return source_ == source::stored_form ? as_encoded().stored_form : std::string_view{};
}

object_ptr object::undecoded() const {
  if (source_ != source::stored_form) return nullptr;
  return encoded(*kind_, as_encoded().stored_form, revision_, as_encoded().owner);
}

std::size_t object::encoded_bytes() const {
  switch (source_) {
    case source::stored_form:
      return as_encoded().stored_form.size();
    case source::last_state:
      return as_revised().last->encoded_bytes();
    case source::given:
      break;
  }
  return content().ByteSizeLong();
}

const body& object::decoded() const {
  // Read outside the lock, which the last state may share.
  const body* last = source_ == source::last_state ? &as_revised().last->content() : nullptr;
  const std::lock_guard lock{lock_of(*this)};
  if (const auto* known = content_.load(std::memory_order_acquire)) return *known;
  auto content = last != nullptr ? copy_of(*last) : read_again(*kind_, as_encoded().stored_form);
  const auto& meta = stamp(*content, revision_);
  if (meta_.load(std::memory_order_relaxed) == nullptr)
    meta_.store(&meta, std::memory_order_release);
  content_.store(content.get(), std::memory_order_release);
  return *content.release();
}

const ObjectMeta& object::decoded_meta() const {
  if (source_ != source::last_state) {
    decoded();
    return *meta_.load(std::memory_order_acquire);
  }
  const auto& last = as_revised().last->meta();
  const std::lock_guard lock{lock_of(*this)};
  if (const auto* known = meta_.load(std::memory_order_acquire)) return *known;
  auto own = std::make_unique<ObjectMeta>(last);
  set_revision(*own, revision_);
  meta_.store(own.get(), std::memory_order_release);
  return *(as_revised().own_meta = std::move(own));
}

std::unique_ptr<body> object::copy() const {
  return copy_of(content());
}

shared_text object::json_text() const {
  if (!asked_.load(std::memory_order_relaxed)) asked_.store(true, std::memory_order_relaxed);
  return once(json_, [this] {
    std::string out;
    if (kind_->custom())
      append_custom_json(out, as_custom(content()), kind_->api_version(), kind_->kind());
    else
      append_json(out, type_plan::of(kind_->type()), wire(), kind_->api_version(), kind_->kind());
    return out;
  });
}

shared_text object::protobuf_text() const {
  if (!asked_.load(std::memory_order_relaxed)) asked_.store(true, std::memory_order_relaxed);
  ensure(!kind_->custom(), "a custom kind has no protobuf");
  return once(protobuf_, [this] { return enclose(*kind_, wire()); });
}

void object::forget_texts() const {
  if (asked_.exchange(false, std::memory_order_relaxed)) return;
  forget(json_);
  forget(protobuf_);
}

std::size_t object::text_bytes() noexcept {
  return all_text_bytes.load(std::memory_order_relaxed);
}

std::string object::wire() const {
  if (source_ != source::given && content_.load(std::memory_order_acquire) == nullptr) {
    const auto revision = revision_ == 0 ? std::string{} : std::to_string(revision_);
    std::optional<std::string> raw;
    if (source_ == source::last_state)
      raw = with_revision(as_revised().last->wire(), revision);
    else if (const auto opened = open_envelope(stored()))
      raw = with_revision(opened->raw, revision);
    if (raw) return std::move(*raw);
  }
  std::string raw;
  append_wire(raw, content());
  return raw;
}

const body& object::checked(const google::protobuf::Descriptor& type) const {
  ensure(&type == &kind_->type(), "an object is read as the kind that it is");
  return content();
}

expected<std::unique_ptr<body>> body_from_storage(const kind_info& kind, std::string_view bytes) {
  if (kind.custom()) return custom_from_storage(kind, bytes);
  auto opened = open_envelope(bytes);
  if (!opened) return fail(unreadable(kind, opened.error().message));
  if (opened->kind != kind.kind() || opened->api_version != kind.api_version())
    return fail(another_kind(kind, opened->api_version, opened->kind));
  auto content = kind.make();
  if (!content->ParseFromArray(opened->raw.data(), static_cast<int>(opened->raw.size())))
    return fail(unreadable(kind, "its protobuf is malformed"));
  return content;
}

std::string to_storage(const kind_info& kind, const body& content) {
  if (kind.custom()) return custom_to_storage(kind, as_custom(content));
  if (!meta_of(content).has_resource_version()) {
    std::string out;
    append_envelope(out, kind.api_version(), kind.kind(), content);
    return out;
  }
  std::string raw;
  append_wire(raw, content);
  if (const auto changed = with_revision(raw, {})) return enclose(kind, *changed);
  std::unique_ptr<body> copy(content.New());
  copy->CopyFrom(content);
  meta_of(*copy).clear_resource_version();
  return to_storage(kind, *copy);
}

kind_handle kind_of_stored(std::string_view key, std::string_view stored) {
  if (auto known = scheme::instance().find_key(key)) return known;
  if (!stored.starts_with('{')) return nullptr;
  // "/registry/<group>/<plural>/[<namespace>/]<name>"
  std::vector<std::string_view> parts;
  for (std::size_t from = 1, end = 0; from <= key.size(); from = end + 1) {
    end = std::min(key.find('/', from), key.size());
    parts.push_back(key.substr(from, end - from));
  }
  if (parts.size() < 4 || parts.size() > 5) return nullptr;
  const auto names = find_type_names(stored);
  const auto slash = names.api_version.find('/');
  if (slash == std::string::npos || names.api_version.substr(0, slash) != parts[1]) return nullptr;
  Kind options;
  options.set_group(std::string(parts[1]));
  options.set_version(names.api_version.substr(slash + 1));
  options.set_kind(names.kind);
  options.set_plural(std::string(parts[2]));
  options.set_namespaced(parts.size() == 5);
  return scheme::instance().find_or_placeholder(std::move(options));
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
