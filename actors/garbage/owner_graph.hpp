// The graph of dependents and owners from metadata.ownerReferences, as far as the log was read.
// Only objects with owners are kept; an owner is identified by its uid alone.
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

  // Sets the owners of an object. Returns the owners that it no longer has.
  std::vector<std::string> put(const std::string& key, const api::object& object);
  // Removes an object. Returns its former owners.
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
