// The differences between two states of an object, field by field, without what must not be seen.
#pragma once

#include <string>
#include <vector>

#include "api/object/object.hpp"

namespace troupe::server {

struct difference {
  std::string path;  // "spec.replicas", "spec.containers[0].image"
  std::string from;  // as JSON; empty where it was absent
  std::string to;    // … or is absent
};

// Either may be null. At most `limit`; long values are cut. metadata.resourceVersion and
// managedFields, which change with everything, are left out. The values of a Secret, and what
// kubectl keeps of it in an annotation, are shown as "(redacted)".
std::vector<difference> differences(const api::object* before, const api::object* after,
                                    std::size_t limit);

}  // namespace troupe::server
