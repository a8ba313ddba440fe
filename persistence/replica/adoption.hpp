// Examines a log that Troupe has never written to: whether a control plane can serve its content.
// Runs before anything is written there.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "persistence/replica/blocking_log.hpp"

namespace troupe::persistence {

struct adoption {
  std::size_t objects = 0;  // number of objects of known kinds
  // Keys that are ignored, counted by their first two parts: "/registry/ranges" → 2.
  std::map<std::string, std::size_t> foreign;
  std::size_t foreign_keys = 0;
  // Ranges of kube-apiserver's Services that are a part of ours, in CIDR notation.
  std::vector<std::string> narrower_ranges;
};

// Reads the whole log. `service_ranges` are those of Services here, in CIDR notation. Fails with
// `invalid` for a value of a known kind that cannot be read: it is encrypted (the error names
// provider and key) or has an unknown version; and for Services whose addresses are of another
// range.
expected<adoption> examine(blocking_log& log, const std::vector<std::string>& service_ranges);

}  // namespace troupe::persistence
