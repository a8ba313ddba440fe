// The differences between two states of an object, field by field, without secrets.
#pragma once

#include <string>
#include <vector>

#include "api/object/object.hpp"

namespace troupe::server {

struct difference {
  std::string path;  // "spec.replicas", "spec.containers[0].image"
  std::string from;  // JSON; empty if it was absent
  std::string to;    // JSON; empty if it is absent
};

// Either may be null. Returns at most `limit`; long values are truncated. Omits
// metadata.resourceVersion and managedFields, which change with every write. Values of a Secret,
// also in kubectl's annotation, are shown as "(redacted)".
std::vector<difference> differences(const api::object* before, const api::object* after,
                                    std::size_t limit);

}  // namespace troupe::server
