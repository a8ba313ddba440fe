#include "actors/garbage/owner_graph.hpp"

#include <algorithm>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

std::vector<std::string> owner_graph::put(const std::string& key, const api::object& object) {
  const auto& references = object.meta().owner_references();
  auto lost = erase(key);
  if (references.empty()) return lost;
  auto& [kept_key, owners] = *owners_.try_emplace(key).first;
  for (const auto& each : references) {
    owners.push_back({each.uid(), each.block_owner_deletion()});
    dependents_[each.uid()].insert(kept_key);
    std::erase(lost, each.uid());
  }
  return lost;
}

std::vector<std::string> owner_graph::erase(const std::string& key) {
  std::vector<std::string> lost;
  const auto found = owners_.find(key);
  if (found == owners_.end()) return lost;
  for (const auto& each : found->second) {
    const auto dependents = dependents_.find(each.uid);
    if (dependents != dependents_.end()) {
      dependents->second.erase(key);
      if (dependents->second.empty()) dependents_.erase(dependents);
    }
    lost.push_back(each.uid);
  }
  owners_.erase(found);
  return lost;
}

const std::vector<owner_graph::owner>& owner_graph::owners_of(const std::string& key) const {
  static const std::vector<owner> none;
  const auto found = owners_.find(key);
  return found == owners_.end() ? none : found->second;
}

std::vector<std::string> owner_graph::dependents_of(const std::string& uid) const {
  const auto found = dependents_.find(uid);
  if (found == dependents_.end()) return {};
  std::vector<std::string> keys{found->second.begin(), found->second.end()};
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::string> owner_graph::blocking_dependents_of(const std::string& uid) const {
  auto keys = dependents_of(uid);
  std::erase_if(keys, [&](const std::string& key) {
    const auto& owners = owners_of(key);
    return std::none_of(owners.begin(), owners.end(),
                        [&](const owner& each) { return each.uid == uid && each.blocks; });
  });
  return keys;
}

std::vector<std::string> owner_graph::keys() const {
  std::vector<std::string> all;
  for (const auto& [key, owners] : owners_)
    all.push_back(key);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace troupe::actors
