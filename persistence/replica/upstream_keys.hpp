// Where objects stand in an etcd that kube-apiserver writes too, and where they stand here.
//
// Nodes, Services, Endpoints, ReplicationControllers and Ingresses have other prefixes there
// (`storage_prefix` of a kind). All other keys are the same. A key that stands there where one of
// ours stands here, as /registry/nodes/a, is nobody's: it is left alone and not seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::persistence {

// Immutable, safe from any thread.
class upstream_keys {
 public:
  // A part of the key space whose keys are in the same order on both sides: [from, to), `to` empty
  // at the end.
  struct range {
    std::string from, to;      // here
    std::string there;         // what stands there for `from`
    std::string end_of_there;  // as `to`
    bool contains_there(std::string_view key) const;
  };

  // Of the kinds of the schema.
  static const upstream_keys& instance();
  struct prefixes {
    std::string here, there;  // both end with '/'
  };
  explicit upstream_keys(std::vector<prefixes> moved);

  std::string to_log(std::string_view key) const;
  // Nothing for a key that is nobody's.
  std::optional<std::string> from_log(std::string_view key) const;

  // All that can be read, in the order of keys here.
  const std::vector<range>& ranges() const noexcept { return ranges_; }

 private:
  const std::vector<prefixes> moved_;
  std::vector<range> ranges_;
};

}  // namespace troupe::persistence
