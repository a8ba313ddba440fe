// An object as it was committed at a revision: it never changes, is decoded once, is shared by
// pointer, and is encoded once for each wire form however many readers get it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api {

// Thread safe. The body's metadata.resourceVersion is the revision.
class object {
 public:
  // Takes the body over and sets its resourceVersion to `revision` (to none where that is 0).
  object(const kind_info& kind, std::unique_ptr<body> content, std::uint64_t revision);
  ~object();
  object(const object&) = delete;
  object& operator=(const object&) = delete;

  // From the stored form: `k8s\0` + Unknown envelope, without a resourceVersion in it. The error is
  // a 500 that says what is wrong with the bytes.
  static expected<object_ptr> from_storage(const kind_info& kind, std::string_view bytes,
                                           std::uint64_t revision);

  const kind_info& kind() const noexcept { return kind_; }
  std::uint64_t revision() const noexcept { return revision_; }
  const body& content() const noexcept { return *content_; }
  const meta::v1::ObjectMeta& meta() const noexcept { return *meta_; }

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

  // Encoded at the first call, kept as long as the object. JSON has kind and apiVersion first;
  // protobuf is the whole `k8s\0` envelope as clients get it.
  const std::string& json() const;
  const std::string& protobuf() const;

 private:
  const body& checked(const google::protobuf::Descriptor& type) const;

  const kind_info& kind_;
  std::unique_ptr<body> content_;
  const meta::v1::ObjectMeta* meta_;
  std::uint64_t revision_;
  mutable std::atomic<const std::string*> json_{nullptr};
  mutable std::atomic<const std::string*> protobuf_{nullptr};
};

// The bytes that the store keeps: the `k8s\0` envelope without resourceVersion. Equal contents give
// equal bytes.
std::string to_storage(const kind_info& kind, const body& content);

// ObjectMeta of any kind's body; it is an error of the program if the body has none.
const meta::v1::ObjectMeta& meta_of(const body& content);
meta::v1::ObjectMeta& meta_of(body& content);

}  // namespace troupe::api
