// Keeps the custom kinds of the scheme in step with the CustomResourceDefinitions in the store.
// Updated on the commit thread before a change is visible, so that a client that sees an
// established definition finds its kind served.
//
// A definition that cannot be served (its kind is one of the schema) is logged.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "persistence/store/store.hpp"

namespace troupe::actors {

class custom_kinds {
 public:
  custom_kinds() = default;
  // Removes its kinds from the scheme.
  ~custom_kinds();
  custom_kinds(const custom_kinds&) = delete;
  custom_kinds& operator=(const custom_kinds&) = delete;

  // See persistence::state_index.
  void load(const persistence::snapshot& state);
  void take(const std::vector<persistence::change>& changes);

 private:
  struct served {
    api::object_ptr definition = {};
    persistence::revision since = 0;  // objects written before may not match the definition
  };

  void put(const api::object_ptr& definition);
  void remove(const api::object& definition);

  // The kinds that it added to the scheme, by name of the definition.
  std::map<std::string, served> served_;
};

}  // namespace troupe::actors
