// Checks the responses that clients got from several control planes against etcd's history. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "persistence/replica/shared_log.hpp"

namespace troupe::test {

using persistence::log_change;
using persistence::log_step;
using persistence::revision;

struct write_record {
  enum class answer : std::uint8_t { done, refused, unknown };

  std::string key;     // in etcd
  std::string marker;  // unique text in the written value; empty: a deletion
  answer told = answer::unknown;
  revision at = 0;  // of a successful write; 0 for a deletion
  std::chrono::steady_clock::time_point sent = {}, answered = {};
  revision expected = 0;  // of the key before the write; 0: absent. Not of a deletion.
};

// A response to a read of an object's newest state.
struct read_record {
  std::string key;     // in etcd
  revision shown = 0;  // 0: absent
  revision after = 0;  // the newest revision in any response before the request
};

struct watch_event {
  revision at = 0;
  std::string type, name;
  std::string marker;  // of the object in the event: of a deletion, that before it
};

// The first objects of a list, read in pages.
struct list_record {
  revision at = 0;         // of the list
  revision after = 0;      // the newest revision in any response before the first request
  bool is_whole = false;   // there is no further page
  std::size_t count = 0;   // of the objects
  std::size_t digest = 0;  // of their names and revisions: digest_of() of each, combined by ^
};
std::size_t digest_of(const std::string& name, revision at);

// Whether the last number in a marker is odd: the label that watches select by.
bool is_odd(const std::string& marker);

// The events of a watch after one list, over all connections that resumed it.
struct watch_span {
  revision after = 0, up_to = 0;
  std::vector<watch_event> events;
  bool only_odd = false;  // it selects by the label
};

// The pods of one owner that are not being deleted.
struct owned_pods {
  std::string prefix;                // of their keys
  std::size_t most = 0, at_end = 0;  // at every revision; at the last one
};

struct evidence {
  // From revision 2. The values of config maps are their markers, those of pods and services their
  // facts (stored_facts.hpp).
  std::vector<log_step> history;
  std::vector<write_record> writes;
  std::vector<read_record> reads;
  std::vector<list_record> lists;  // of the watched config maps
  // The key prefix of a namespace's config maps, and the watches of them.
  std::string watched;
  std::vector<watch_span> watches;
  // The key prefix of pods, their owners, and how many of them a node has room for.
  std::string pods;
  std::vector<owned_pods> owners;
  std::size_t pods_of_node = 0;
  std::string services;  // the key prefix of services
  // Final state: the revisions of the config maps by name, for each control plane by name.
  std::map<std::string, std::map<std::string, revision>> states;
};

// Returns the contradictions to the history, at most five of each kind; empty: none. Checks:
//
// - The history has no gaps, and its pods and services can be read.
// - A successful write happened once, at the returned revision; a refused write did not happen; an
//   unknown one happened at most once. A write that was sent after another's response has a higher
//   revision. A write replaced the revision that its client expected.
// - A read showed the object at a revision that is not older than any response before the request.
//   A list, whose pages may come from several control planes, is the state of its revision.
// - Only the leading control plane creates pods, and only its scheduler, controllers and garbage
//   collector write; none does without a leader.
// - An owner never has more pods than desired. A pod is bound to one node, once, and no node has
//   more pods than it has room for.
// - No two services have an address or a node port at the same time.
// - A watch delivered every change in its span once, in order, with the right type and object. One
//   with a selector delivered an object that began or ceased to match as added or deleted.
// - The final state of every control plane is that of the history.
std::vector<std::string> evaluate(const evidence& found);

}  // namespace troupe::test
