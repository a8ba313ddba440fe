// Which objects depend on which owners, by metadata.ownerReferences, as far as the log has been
// read. Only objects that name owners are kept; an owner is known by its uid alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/object/object.hpp"

namespace troupe::actors {

class owner_graph {
 public:
  struct owner {
    std::string uid;
    bool blocks = false;  // blockOwnerDeletion
    bool operator==(const owner&) const = default;
  };

  // Takes the object's present owners. Returns those that it had before and has no more.
  std::vector<std::string> put(const std::string& key, const api::object& object);
  // Returns the owners that it had.
  std::vector<std::string> erase(const std::string& key);

  // Empty for objects without owners.
  const std::vector<owner>& owners_of(const std::string& key) const;
  // Keys of the objects that name this uid as an owner.
  std::vector<std::string> dependents_of(const std::string& uid) const;
  std::vector<std::string> blocking_dependents_of(const std::string& uid) const;
  bool has_dependents(const std::string& uid) const { return dependents_.contains(uid); }

  std::vector<std::string> keys() const;
  std::size_t size() const noexcept { return owners_.size(); }

 private:
  std::unordered_map<std::string, std::vector<owner>> owners_;  // by key of the dependent
  // By uid of the owner; the views are keys of owners_.
  std::unordered_map<std::string, std::unordered_set<std::string_view>> dependents_;
};

}  // namespace troupe::actors
