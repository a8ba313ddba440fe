// A kind of object of the API: what the schema says of it (options.proto, `Kind`), found once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/fwd.hpp"
#include "api/schema/options.pb.h"

namespace troupe::api {

// Immutable, one for each kind, at a fixed address for the life of the process.
class kind_info {
 public:
  kind_info(const Kind& options, const google::protobuf::Descriptor& type);

  const std::string& group() const noexcept { return options_.group(); }
  const std::string& version() const noexcept { return options_.version(); }
  const std::string& kind() const noexcept { return options_.kind(); }
  const std::string& plural() const noexcept { return options_.plural(); }
  const Kind& options() const noexcept { return options_; }
  const google::protobuf::Descriptor& type() const noexcept { return type_; }
  bool namespaced() const noexcept { return options_.namespaced(); }

  // "v1", "apps/v1".
  const std::string& api_version() const noexcept { return api_version_; }
  // "pods", "replicasets.apps": how messages name the resource.
  const std::string& qualified_plural() const noexcept { return qualified_plural_; }
  // "Pod", "ReplicaSet.apps": how messages name the kind.
  const std::string& qualified_kind() const noexcept { return qualified_kind_; }

  // An empty object of this kind.
  std::unique_ptr<body> make() const;

  // Where objects of this kind stand in the store: /registry/<plural>/[<namespace>/]<name>.
  std::string key(std::string_view ns, std::string_view name) const;
  // The prefix of all of them, or of one namespace's; ends with '/'.
  std::string prefix(std::string_view ns = {}) const;

  // Verbs are those of Kind.verbs, or all where it is empty.
  bool serves(std::string_view verb) const noexcept;
  bool stored() const noexcept;  // false for Binding, Eviction, Scale and the review kinds

 private:
  Kind options_;
  const google::protobuf::Descriptor& type_;
  std::string api_version_;
  std::string qualified_plural_;
  std::string qualified_kind_;
};

}  // namespace troupe::api
