// A table that finds the roles that may allow a request by lookups, for subjects with many
// bindings. It may return too many roles, never too few: the caller checks their rules.
//
// Built once for one state of the roles, then immutable. A rule takes an entry for each verb,
// group, resource and name. Roles that would exceed defaults::table_places are returned for every
// request.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/access/rules.hpp"

namespace troupe::actors::access {

class rule_table {
 public:
  using numbers = std::vector<std::uint32_t>;

  // Roles are identified by their numbers; add each once, in ascending order.
  void add(std::uint32_t role, const rule_list& rules);

  // Calls `visit` with the numbers of roles until it returns true.
  template <class F>
  bool find(const attempt& attempt, F visit) const {
    for (const auto role : always_)
      if (visit(role)) return true;
    if (!attempt.on_resource) {
      for (const auto role : with_paths_)
        if (visit(role)) return true;
      return false;
    }
    place_list places;
    for (const auto place : std::span{places}.first(places_of(attempt, places)))
      if (const auto found = places_.find(place); found != places_.end())
        for (const auto role : found->second)
          if (visit(role)) return true;
    return false;
  }

  std::size_t size() const noexcept { return used_; }

 private:
  // Verb, group, and name or none, each exact or as wildcard; the resource in three forms.
  using place_list = std::array<std::uint64_t, 2 * 2 * 3 * 2>;
  static std::size_t places_of(const attempt& attempt, place_list& into);

  struct same {
    std::size_t operator()(std::uint64_t hash) const noexcept { return hash; }
  };
  std::unordered_map<std::uint64_t, numbers, same> places_;
  numbers with_paths_, always_;
  std::size_t used_ = 0;
};

}  // namespace troupe::actors::access
