// A kind of the API, and the handle that keeps it alive. Built-in kinds come from the schema
// (options.proto, `Kind`), read once; custom kinds are created while the program runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/fwd.hpp"
#include "api/schema/options.pb.h"

namespace troupe::api {

struct kind_row;
class kind_handle;

// Immutable and thread safe. A built-in kind has a fixed address for the life of the process; a
// custom kind lives until its last handle is destroyed.
class kind_info {
 public:
  kind_info(const Kind& options, const google::protobuf::Descriptor& type);
  kind_info(const kind_info&) = delete;
  kind_info& operator=(const kind_info&) = delete;
  ~kind_info();
  // Objects of a custom kind have a CustomBody, and their keys have the group. `version`: the
  // rules of its definition, or null. `home`: the kind of the storage version, if that is another
  // one.
  static kind_handle make_custom(Kind options, version_rules_ptr version, kind_handle home);
  static kind_handle make_custom(Kind options);

  const std::string& group() const noexcept { return options_.group(); }
  const std::string& version() const noexcept { return options_.version(); }
  const std::string& kind() const noexcept { return options_.kind(); }
  std::string list_kind() const;  // kind of the list: "PodList"
  const std::string& plural() const noexcept { return options_.plural(); }
  const Kind& options() const noexcept { return options_; }
  const google::protobuf::Descriptor& type() const noexcept { return type_; }
  bool namespaced() const noexcept { return options_.namespaced(); }
  bool custom() const noexcept { return custom_; }
  // Null for built-in kinds, and for custom kinds without a definition.
  const version_rules* rules() const noexcept { return version_.get(); }
  // The kind's row of rules and properties (kind_row.hpp).
  const kind_row& row() const noexcept { return row_; }

  // "v1", "apps/v1".
  const std::string& api_version() const noexcept { return api_version_; }
  // "pods", "replicasets.apps": the resource in messages.
  const std::string& qualified_plural() const noexcept { return qualified_plural_; }
  // "Pod", "ReplicaSet.apps": the kind in messages.
  const std::string& qualified_kind() const noexcept { return qualified_kind_; }

  // An empty object of this kind.
  std::unique_ptr<body> make() const;

  // The key of an object in the store:
  // /registry/[<group>/]<plural>/[<namespace>/]<name>.
  std::string key(std::string_view ns, std::string_view name) const;
  // The key prefix of all objects; ends with '/'.
  const std::string& prefix() const noexcept { return prefix_; }
  // The prefix of one namespace's objects; of all if `ns` is empty.
  std::string prefix(std::string_view ns) const;
  // The key prefix that upstream uses in etcd: /registry/minions/.
  std::string etcd_prefix() const;

  // Whether Kind.verbs has the verb; if it is empty, all verbs are served.
  bool serves(std::string_view verb) const noexcept;
  // False for Binding, Eviction, Scale and the review kinds, and for kinds that present the objects
  // of another kind.
  bool stored() const noexcept;

 private:
  friend class kind_handle;

  friend const kind_info& home_of(const kind_info& kind);

  kind_info(const Kind& options, const google::protobuf::Descriptor& type, bool custom);

  Kind options_;
  const google::protobuf::Descriptor& type_;
  const kind_row& row_;
  std::string api_version_;
  std::string qualified_plural_;
  std::string qualified_kind_;
  std::string prefix_;
  const bool custom_;
  // Only for a custom kind.
  mutable std::atomic<std::uint32_t> handles_{0};
  version_rules_ptr version_;
  std::unique_ptr<const kind_handle> home_;
};

// A nullable handle that keeps a kind alive, as large as a pointer. Handles of a custom kind
// are counted; those of a built-in kind check a flag. Made from any reference to a live
// kind.
class kind_handle {
 public:
  kind_handle() noexcept = default;
  kind_handle(std::nullptr_t) noexcept {}
  kind_handle(const kind_info* kind) noexcept : kind_{kind} { retain(); }
  kind_handle(const kind_handle& other) noexcept : kind_{other.kind_} { retain(); }
  kind_handle(kind_handle&& other) noexcept : kind_{std::exchange(other.kind_, nullptr)} {}
  kind_handle& operator=(kind_handle other) noexcept {
    std::swap(kind_, other.kind_);
    return *this;
  }
  ~kind_handle() {
    if (kind_ != nullptr && kind_->custom_) release();
  }

  const kind_info* get() const noexcept { return kind_; }
  const kind_info& operator*() const noexcept { return *kind_; }
  const kind_info* operator->() const noexcept { return kind_; }
  explicit operator bool() const noexcept { return kind_ != nullptr; }

  friend bool operator==(const kind_handle& a, const kind_handle& b) noexcept {
    return a.kind_ == b.kind_;
  }
  friend bool operator==(const kind_handle& a, const kind_info* b) noexcept { return a.kind_ == b; }

 private:
  void retain() const noexcept {
    if (kind_ != nullptr && kind_->custom_) kind_->handles_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() const noexcept;

  const kind_info* kind_ = nullptr;
};

}  // namespace troupe::api
