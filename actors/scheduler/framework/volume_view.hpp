// The scheduler's view of claims, volumes, storage classes and driver limits, updated by watch
// events. A volume that is being reserved for a claim is promised: it is not offered to other
// claims until the write is answered.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/object/object.hpp"

namespace troupe::actors::scheduler {

class volume_view {
 public:
  // Adds or updates objects of the four kinds.
  void put(const api::object_ptr& object);
  // Updates a known object only: the answer to a write may arrive after the removal.
  void update(const api::object_ptr& object);
  void remove(const api::object& object);

  // Null if there is none.
  api::object_ptr claim(const std::string& ns, const std::string& name) const;
  api::object_ptr volume(const std::string& name) const;
  api::object_ptr storage_class(const std::string& name) const;
  api::object_ptr driver_limits(const std::string& node) const;  // a CSINode

  // Volumes for a claim: neither bound nor promised, or reserved for this claim.
  std::vector<api::object_ptr> candidates(const api::object& claim) const;
  void promise(const std::string& volume_key) { promised_.insert(volume_key); }
  void withdraw_promise(const std::string& volume_key) { promised_.erase(volume_key); }

 private:
  std::unordered_map<std::string, api::object_ptr> objects_;            // by key
  std::map<std::string, std::map<std::string, api::object_ptr>> free_;  // by class, then key
  std::set<std::pair<std::string, std::string>> reserved_;              // keys of claim and volume
  std::set<std::string> promised_;                                      // keys of volumes
};

}  // namespace troupe::actors::scheduler
