// What the scheduler knows of claims, volumes, their classes and the limits of drivers, kept up to
// date by watch events. A volume that is being reserved for a claim is promised: no other claim is
// offered it until the write is answered.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/object/object.hpp"

namespace troupe::actors::scheduler {

class volume_view {
 public:
  // Objects of the four kinds; a newer state replaces an older one.
  void put(const api::object_ptr& object);
  // The same, of an object that is known already: the answer to a write may come after the removal.
  void update(const api::object_ptr& object);
  void remove(const api::object& object);

  // Null where there is none.
  api::object_ptr claim(const std::string& ns, const std::string& name) const;
  api::object_ptr volume(const std::string& name) const;
  api::object_ptr storage_class(const std::string& name) const;
  api::object_ptr driver_limits(const std::string& node) const;  // a CSINode

  // Volumes that a claim may be bound to: without a claim and not promised, or for this very one.
  std::vector<api::object_ptr> candidates(const api::object& claim) const;
  void promise(const std::string& volume_key) { promised_.insert(volume_key); }
  void take_back(const std::string& volume_key) { promised_.erase(volume_key); }

 private:
  std::unordered_map<std::string, api::object_ptr> objects_;            // by key
  std::map<std::string, std::map<std::string, api::object_ptr>> free_;  // by class, then key
  std::unordered_map<std::string, std::string> reserved_;  // key of a volume, by that of a claim
  std::set<std::string> promised_;                         // keys of volumes
};

}  // namespace troupe::actors::scheduler
