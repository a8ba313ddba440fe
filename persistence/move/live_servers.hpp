// Finds out whether control planes serve the cluster of a log, which must not be copied then: the
// copy would not have what they write later.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "persistence/replica/blocking_log.hpp"

namespace troupe::persistence {

// The name of one that serves it; nullopt if none does. Each running one renews the key `records`
// + its name in less than `limit`, and the leader holds its key. Keys that exist may be of a
// control plane that was killed: they are observed until one of them changes, or `limit` is over.
// Writes nothing.
expected<std::optional<std::string>> find_live_server(blocking_log& log, const std::string& records,
                                                      std::chrono::milliseconds limit);

}  // namespace troupe::persistence
