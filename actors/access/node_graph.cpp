#include "actors/access/node_graph.hpp"

#include <algorithm>

#include "actors/access/pod_references.hpp"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::access {
namespace {

using api::core::v1::PersistentVolume;
using api::core::v1::Pod;

bool concerns(const api::object& object) {
  return &object.kind() == &api::kind_of<Pod>() ||
         &object.kind() == &api::kind_of<PersistentVolume>();
}

// The references of a bound pod change only when ephemeral containers are added.
bool uses_the_same(const api::object& before, const api::object& now) {
  const auto& was = before.as<Pod>().spec();
  const auto& is = now.as<Pod>().spec();
  return before.meta().uid() == now.meta().uid() && was.node_name() == is.node_name() &&
         was.ephemeral_containers_size() == is.ephemeral_containers_size();
}

}  // namespace

void node_graph::load(const persistence::snapshot& state) {
  {
    const std::lock_guard lock{mutex_};
    used_.clear();
    claims_.clear();
  }
  for (const auto* kind : {&api::kind_of<Pod>(), &api::kind_of<PersistentVolume>()})
    state.scan(kind->prefix(), {}, [&](std::string_view, const api::object_ptr& found) {
      change(nullptr, found);
      return true;
    });
}

void node_graph::take(const std::vector<persistence::change>& changes) {
  for (const auto& each : changes) {
    if (!concerns(*each.object)) continue;
    const bool gone = each.type == persistence::change_type::removed;
    // The object of a removal is the last state with a new revision.
    change(each.previous ? each.previous : (gone ? each.object : nullptr),
           gone ? nullptr : each.object);
  }
}

void node_graph::change(const api::object_ptr& before, const api::object_ptr& now) {
  const auto count_object = [this](const api::object& object, bool more) {
    if (&object.kind() == &api::kind_of<Pod>()) {
      const auto& node = object.as<Pod>().spec().node_name();
      if (!node.empty()) count(used_, node, used_keys(object.as<Pod>()), more);
      return;
    }
    const auto& volume = object.as<PersistentVolume>();
    if (const auto claim = claim_key(volume); !claim.empty())
      for (const auto& secret : secret_keys(volume))
        count(claims_, secret, {claim}, more);
  };
  if (before && now && &now->kind() == &api::kind_of<Pod>() && uses_the_same(*before, *now)) return;
  // New references are added first, so that kept ones are never missing.
  if (now) count_object(*now, true);
  if (before) count_object(*before, false);
}

void node_graph::count(text_map<counts>& in, const std::string& from,
                       const std::vector<std::string>& keys, bool more) {
  const std::lock_guard lock{mutex_};
  auto& counted = in[from];
  for (const auto& key : keys) {
    if (more) {
      ++counted[key];
    } else if (const auto found = counted.find(key);
               found != counted.end() && --found->second == 0) {
      counted.erase(found);
    }
  }
  if (counted.empty()) in.erase(from);
}

bool node_graph::uses(std::string_view node, std::string_view key) const {
  const std::lock_guard lock{mutex_};
  const auto of_node = used_.find(node);
  if (of_node == used_.end()) return false;
  if (of_node->second.contains(key)) return true;
  const auto volumes = claims_.find(key);
  return volumes != claims_.end() &&
         std::any_of(volumes->second.begin(), volumes->second.end(),
                     [&](const auto& claim) { return of_node->second.contains(claim.first); });
}

std::size_t node_graph::size() const {
  const std::lock_guard lock{mutex_};
  std::size_t out = 0;
  for (const auto* map : {&used_, &claims_})
    for (const auto& [from, counted] : *map)
      out += counted.size();
  return out;
}

}  // namespace troupe::actors::access
