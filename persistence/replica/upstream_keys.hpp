// Maps our keys to the keys that kube-apiserver uses in etcd, and back.
//
// There, Nodes, Services, Endpoints, ReplicationControllers and Ingresses have other prefixes
// (`storage_prefix` of a kind). All other keys are equal. A key in the log that equals one of our
// moved keys, such as /registry/nodes/a, maps to no object: it is ignored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::persistence {

// Immutable and thread safe.
class upstream_keys {
 public:
  // A part of the key space with the same order of keys on both sides: [from, to); an empty `to` is
  // the end.
  struct range {
    std::string from, to;    // our keys
    std::string there;       // the log's key for `from`
    std::string end_in_log;  // the log's key for `to`
    bool contains_log_key(std::string_view key) const;
  };

  // For the kinds of the schema.
  static const upstream_keys& instance();
  struct prefixes {
    std::string here, there;  // both end with '/'
  };
  explicit upstream_keys(std::vector<prefixes> moved);

  std::string to_log(std::string_view key) const;
  // Returns nullopt for a key that maps to no object.
  std::optional<std::string> from_log(std::string_view key) const;

  // All readable ranges, in the order of our keys.
  const std::vector<range>& ranges() const noexcept { return ranges_; }

 private:
  const std::vector<prefixes> moved_;
  std::vector<range> ranges_;
};

}  // namespace troupe::persistence
