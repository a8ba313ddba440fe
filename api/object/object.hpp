// An object as it was committed at a revision: it never changes, is decoded once, is shared by
// pointer, and is encoded once for each wire form however many readers get it at a time.
//
// Of a compact kind (options.proto) the store keeps bytes alone, and every reader gets an object of
// its own that is decoded at the first look at its content.
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
  // Takes the body over and sets its resourceVersion to `revision` (to none where that is 0).
  object(const kind_info& kind, std::unique_ptr<body> content, std::uint64_t revision);
  ~object();
  object(const object&) = delete;
  object& operator=(const object&) = delete;

  // From the stored form: `k8s\0` + Unknown envelope, of a custom kind JSON, without a
  // resourceVersion in it. The error is a 500 that names the problem of the bytes.
  static expected<object_ptr> from_storage(const kind_info& kind, std::string_view bytes,
                                           std::uint64_t revision);

  // Of the stored form, which is decoded when it is needed; `owner` keeps `stored` alive. The bytes
  // have been read by from_storage before, or were made by to_storage.
  static object_ptr encoded(const kind_info& kind, std::string_view stored, std::uint64_t revision,
                            std::shared_ptr<const void> owner);
  // The stored form of an object that encoded() made; empty for others.
  std::string_view stored() const noexcept;
  // Another object of the same stored form, for a reader that should not leave this one decoded;
  // null for others.
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
  // About the size of the encoded content; does not decode.
  std::size_t encoded_bytes() const;

  // The typed body; it is an error of the program if the object is of another kind.
  template <class T>
  const T& as() const {
    return static_cast<const T&>(checked(*T::descriptor()));
  }

  // A copy to change and submit.
  std::unique_ptr<body> copy() const;
  template <class T>
  std::unique_ptr<T> copy_as() const {
    return std::make_unique<T>(as<T>());
  }

  // Encoded at the first call and kept for the next ones, until forget_texts(). JSON has kind and
  // apiVersion first; protobuf is the whole `k8s\0` envelope as clients get it, and no custom kind
  // has it.
  shared_text json_text() const;
  shared_text protobuf_text() const;
  std::string json() const { return std::string{*json_text()}; }
  std::string protobuf() const { return std::string{*protobuf_text()}; }
  // Drops the texts if none was used since the last call.
  void forget_texts() const;
  // The bytes of the kept texts of all objects of the process.
  static std::size_t text_bytes() noexcept;
  // The content as protobuf without an envelope, encoded again at each call.
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

// The bytes that the store keeps: the `k8s\0` envelope, of a custom kind JSON, without
// resourceVersion. Equal contents give equal bytes.
std::string to_storage(const kind_info& kind, const body& content);
// The body of what to_storage made; the error says what is wrong with the bytes.
expected<std::unique_ptr<body>> body_from_storage(const kind_info& kind, std::string_view bytes);
// The kind of a key that is in the store with this value. An object whose custom kind is not there
// gets a kind that is served to nobody, named as the object names itself
// (scheme::find_or_stand_in). Null for keys that no kind can have.
kind_handle kind_of_stored(std::string_view key, std::string_view stored);

// ObjectMeta of any kind's body; it is an error of the program if the body has none.
const meta::v1::ObjectMeta& meta_of(const body& content);
meta::v1::ObjectMeta& meta_of(body& content);

}  // namespace troupe::api
