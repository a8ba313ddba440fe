// Which roles may allow a request, found by look-ups: what a subject of many bindings is judged by.
// Says too many rather than too few: whoever asks looks at the rules of those that it names.
//
// Built once for one state of the roles, then never changed. A rule takes a place for each verb,
// group, resource and name; what would take more than defaults::table_places in all is named for
// every request instead.
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

  // Roles are known by their numbers; each is added once, in rising order.
  void add(std::uint32_t role, const rule_list& rules);

  // Calls `visit` with the numbers of roles until it says true.
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
  // Verb, group, and name or none, each as it is or for all; the resource in three forms.
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
