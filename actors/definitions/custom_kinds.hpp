// The custom kinds of the scheme, as the definitions in the store say. Kept by the commits
// themselves, on the commit thread, before a change is visible. So whoever reads that a definition
// is established finds its kind served.
//
// A definition that cannot be served (its kind is one of the schema) is in the log.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "persistence/store/store.hpp"

namespace troupe::actors {

class custom_kinds {
 public:
  custom_kinds() = default;
  // Takes out of the scheme what it has put there.
  ~custom_kinds();
  custom_kinds(const custom_kinds&) = delete;
  custom_kinds& operator=(const custom_kinds&) = delete;

  // As persistence::state_index says.
  void load(const persistence::snapshot& state);
  void take(const std::vector<persistence::change>& changes);

 private:
  struct served {
    api::object_ptr definition = {};
    persistence::revision since = 0;  // objects written before may not be in line with it
  };

  void put(const api::object_ptr& definition);
  void remove(const api::object& definition);

  // What stands in the scheme, by name of the definition.
  std::map<std::string, served> served_;
};

}  // namespace troupe::actors
