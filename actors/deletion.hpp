// What a deletion makes of an object: gone at once, or marked and left to whoever must finish it (a
// kubelet, the holder of a finalizer).
//
// kubernetes: apiserver/pkg/registry/rest/delete.go and generic/registry/store.go.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/commands.hpp"
#include "api/object.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

inline constexpr const char* finalizer_orphan = "orphan";
inline constexpr const char* finalizer_foreground = "foregroundDeletion";

struct deletion {
  std::int64_t grace_seconds = -1;  // below 0: the object's own
  std::string propagation = {};     // "Background", "Foreground", "Orphan"; empty: the kind's own
};

// `content` is the state to begin from: a copy of `old`, perhaps with a condition added.
command_plan plan_deletion(const api::object_ptr& old, std::string key,
                           std::unique_ptr<api::body> content, const deletion& how,
                           runtime::wall_time now);

// True when an object that is marked for deletion is held by nothing any more: whoever took away
// the last finalizer removes it in the same transaction.
bool released(const api::kind_info& kind, const api::body& content);

// A transaction that replaces `old` by `content`, or removes it when that is released.
persistence::transaction replace_or_remove(const api::object& old, std::string key,
                                           std::unique_ptr<api::body> content);

}  // namespace troupe::actors
