// An object as committed at a revision: immutable, decoded once, shared by pointer, and encoded
// once for each wire format, however many readers request it at the same time.
//
// For a compact kind (options.proto) the store keeps only bytes; each reader gets its own object,
// which is decoded at the first access to its content.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"
#include "api/object/shared_text.hpp"

namespace troupe::api {

// Thread safe. The body's metadata.resourceVersion is the revision.
class object {
 public:
  // Takes ownership of the body and sets its resourceVersion to `revision` (0: clears
  // it).
  object(const kind_info& kind, std::unique_ptr<body> content, std::uint64_t revision);
  ~object();
  object(const object&) = delete;
  object& operator=(const object&) = delete;

  // From the stored form: `k8s\0` + Unknown envelope, or JSON for a custom kind, without a
  // resourceVersion. The error is a 500 that describes the problem.
  static expected<object_ptr> from_storage(const kind_info& kind, std::string_view bytes,
                                           std::uint64_t revision);

  // From the stored form, decoded on demand; `owner` keeps `stored` alive. The bytes must have been
  // accepted by from_storage, or be made by to_storage.
  static object_ptr encoded(const kind_info& kind, std::string_view stored, std::uint64_t revision,
                            std::shared_ptr<const void> owner);
  // The stored form of an object made by encoded(); empty for others.
  std::string_view stored() const noexcept;
  // A copy of an encoded() object, for a reader that should not leave the original decoded; null
  // for other objects.
  object_ptr undecoded() const;

  // `last` with another revision: the state in which an object was removed. Metadata and body are
  // copied from `last` when they are first read, in the thread that reads them.
  static object_ptr revised(object_ptr last, std::uint64_t revision);

  // Kept by the object.
  const kind_info& kind() const noexcept { return *kind_; }
  std::uint64_t revision() const noexcept { return revision_; }
  const body& content() const {
    const auto* known = content_.load(std::memory_order_acquire);
    return known != nullptr ? *known : decoded();
  }
  const meta::v1::ObjectMeta& meta() const {
    const auto* known = meta_.load(std::memory_order_acquire);
    return known != nullptr ? *known : decoded_meta();
  }
  // Approximate size of the encoded content; does not decode.
  std::size_t encoded_bytes() const;

  // The typed body; the object must be of that kind.
  template <class T>
  const T& as() const {
    return static_cast<const T&>(checked(*T::descriptor()));
  }

  // A copy to modify and submit.
  std::unique_ptr<body> copy() const;
  template <class T>
  std::unique_ptr<T> copy_as() const {
    return std::make_unique<T>(as<T>());
  }

  // Encoded at the first call and cached until forget_texts(). JSON starts with kind
  // and apiVersion; protobuf is the `k8s\0` envelope for clients, not for custom
  // kinds.
  shared_text json_text() const;
  shared_text protobuf_text() const;
  std::string json() const { return std::string{*json_text()}; }
  std::string protobuf() const { return std::string{*protobuf_text()}; }
  // Drops the cached texts if none was used since the last call.
  void forget_texts() const;
  // The bytes of the cached texts of all objects in the process.
  static std::size_t text_bytes() noexcept;
  // The content as protobuf without an envelope; not cached.
  std::string wire() const;

 private:
  struct encoded_object;
  struct revised_object;
  // Where the content comes from when it is first read.
  enum class source : std::uint8_t { given, stored_form, last_state };

  object(const kind_info& kind, std::uint64_t revision, source from);

  const body& checked(const google::protobuf::Descriptor& type) const;
  const body& decoded() const;
  const meta::v1::ObjectMeta& decoded_meta() const;
  const encoded_object& as_encoded() const noexcept;
  const revised_object& as_revised() const noexcept;

  const kind_handle kind_;
  // Null until they are first read, unless the content was given.
  mutable std::atomic<const body*> content_{nullptr};
  mutable std::atomic<const meta::v1::ObjectMeta*> meta_{nullptr};
  std::uint64_t revision_ : 62;
  source source_ : 2;
  mutable std::atomic<bool> asked_{false};  // for a text, lately
  mutable text_cell json_, protobuf_;
};

// The stored bytes: the `k8s\0` envelope, or JSON for a custom kind, without resourceVersion. Equal
// contents give equal bytes.
std::string to_storage(const kind_info& kind, const body& content);
// The body from bytes of to_storage; the error describes the problem.
expected<std::unique_ptr<body>> body_from_storage(const kind_info& kind, std::string_view bytes);
// The kind of a stored key and value. For an object whose custom kind is not registered, returns a
// stand-in kind that is not served, with the names in the object (scheme::find_or_placeholder).
// Null for keys that belong to no kind.
kind_handle kind_of_stored(std::string_view key, std::string_view stored);

// ObjectMeta of any kind's body, which must have one.
const meta::v1::ObjectMeta& meta_of(const body& content);
meta::v1::ObjectMeta& meta_of(body& content);

}  // namespace troupe::api
