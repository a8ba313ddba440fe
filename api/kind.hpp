// A kind of object of the API, and the handle by which others keep it. Built-in kinds are what the
// schema says (options.proto, `Kind`), found once; custom kinds are made while the program runs.
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

// Immutable, safe from any thread. A built-in kind stays at its address for the life of the
// process, a custom one for as long as a handle of it is left.
class kind_info {
 public:
  kind_info(const Kind& options, const google::protobuf::Descriptor& type);
  kind_info(const kind_info&) = delete;
  kind_info& operator=(const kind_info&) = delete;
  ~kind_info();
  // Its objects have a CustomBody, its keys have the group. `version`: what its definition says of
  // it, or null. `home`: the kind of the version in which the objects are stored, where that is
  // another one.
  static kind_handle make_custom(Kind options, version_rules_ptr version, kind_handle home);
  static kind_handle make_custom(Kind options);

  const std::string& group() const noexcept { return options_.group(); }
  const std::string& version() const noexcept { return options_.version(); }
  const std::string& kind() const noexcept { return options_.kind(); }
  std::string list_kind() const;  // of a list of them: "PodList"
  const std::string& plural() const noexcept { return options_.plural(); }
  const Kind& options() const noexcept { return options_; }
  const google::protobuf::Descriptor& type() const noexcept { return type_; }
  bool namespaced() const noexcept { return options_.namespaced(); }
  bool custom() const noexcept { return custom_; }
  // Null for built-in kinds, and for custom ones without a definition.
  const version_rules* rules() const noexcept { return version_.get(); }
  // The rules of the kind alone (kind_row.hpp).
  const kind_row& row() const noexcept { return row_; }

  // "v1", "apps/v1".
  const std::string& api_version() const noexcept { return api_version_; }
  // "pods", "replicasets.apps": how messages name the resource.
  const std::string& qualified_plural() const noexcept { return qualified_plural_; }
  // "Pod", "ReplicaSet.apps": how messages name the kind.
  const std::string& qualified_kind() const noexcept { return qualified_kind_; }

  // An empty object of this kind.
  std::unique_ptr<body> make() const;

  // Where objects of this kind stand in the store:
  // /registry/[<group>/]<plural>/[<namespace>/]<name>.
  std::string key(std::string_view ns, std::string_view name) const;
  // The prefix of all of them; ends with '/'.
  const std::string& prefix() const noexcept { return prefix_; }
  // Of one namespace's; of all where `ns` is empty.
  std::string prefix(std::string_view ns) const;
  // The prefix of all of them in an etcd that upstream writes: /registry/minions/.
  std::string etcd_prefix() const;

  // Verbs are those of Kind.verbs, or all where it is empty.
  bool serves(std::string_view verb) const noexcept;
  // False for Binding, Eviction, Scale and the review kinds, and for kinds that show the objects of
  // another one.
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
  // Of a custom kind.
  mutable std::atomic<std::uint32_t> handles_{0};
  version_rules_ptr version_;
  std::unique_ptr<const kind_handle> home_;
};

// Keeps a kind, or is null. As large as a pointer; a custom kind counts its handles, a built-in one
// costs a look at a flag. Made of any reference to a kind that somebody keeps.
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
