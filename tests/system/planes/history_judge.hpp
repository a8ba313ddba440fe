// What clients were told by several control planes, held against the history of their etcd. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "persistence/replica/shared_log.hpp"

namespace troupe::test {

using persistence::log_step;
using persistence::revision;

struct write_record {
  enum class answer : std::uint8_t { done, refused, unknown };

  std::string key;     // in etcd
  std::string marker;  // stands in what was written, and nowhere else; empty: a deletion
  answer told = answer::unknown;
  revision at = 0;  // of a write that is done
  std::chrono::steady_clock::time_point sent = {}, answered = {};
};

struct watch_event {
  revision at = 0;
  std::string type, name;
};

// All that a watch has told from one list on, over all connections that it was resumed by.
struct watch_span {
  revision after = 0, up_to = 0;
  std::vector<watch_event> events;
};

struct evidence {
  // From revision 2 on. Values of config maps are their markers.
  std::vector<log_step> history;
  std::vector<write_record> writes;
  // Of the config maps of a namespace, whose keys begin with `watched`.
  std::string watched;
  std::vector<watch_span> watches;
  // Pods below this prefix belong to one owner, which wants that many.
  std::string pods;
  std::size_t replicas = 0;
  // At the end: of each control plane, the revisions of the config maps by name.
  std::map<std::string, std::map<std::string, revision>> states;
};

// What contradicts the history, each kind of it at most a few times. Empty: nothing.
//
// - The history has no holes.
// - A write that is done happened once, at the revision that was told; a refused one did not; an
//   unknown one at most once. What was answered before another was sent has the lower revision.
// - What only the leader does (pods are made, and bound) is done while somebody leads, in one term
//   by one control plane.
// - There are never more pods of the owner than it wants.
// - A watch has told every change of its span once, in order, by its right name.
// - The control planes have the state of the history.
std::vector<std::string> judge(const evidence& found);

}  // namespace troupe::test
