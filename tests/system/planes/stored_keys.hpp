// The keys of objects in etcd and their revisions, and what a control plane shows of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kind.hpp"
#include "persistence/replica/shared_log.hpp"
#include "system/network/machine.hpp"

namespace troupe::test {

inline constexpr std::string_view objects_prefix = "/registry/";

// The revision of the last change of each key.
using key_revisions = std::map<std::string, persistence::revision>;

// From the output of `etcdctl get --write-out fields`.
key_revisions read_keys(std::string_view output);
// Those of the keys that begin with `prefix`.
key_revisions part_of(const key_revisions& keys, const std::string& prefix);
// Those that belong to no kind.
std::vector<std::string> strangers(const key_revisions& in_etcd);

// The objects of a kind in a control plane's cache (resourceVersion=0), by their keys in etcd.
// Nothing if it does not answer.
std::optional<key_revisions> shown_by(const machine& plane, const api::kind_info& kind);

// One line for each key that is only in etcd, only shown, or shown at another revision; of many,
// some, and a line with their number.
std::vector<std::string> differences(const key_revisions& in_etcd, const key_revisions& shown);

}  // namespace troupe::test
