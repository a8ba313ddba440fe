// An index of owners by their selector, so that a lookup does not visit all owners of the
// namespace. An owner is in one list: that of a label that its selector requires (the shortest list
// of several), or that of its namespace if it requires none.
//
// T is cheap to copy and compare. Not thread safe.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/selectors/selector.hpp"

namespace troupe::actors {

template <class T>
class selector_index {
 public:
  // The list of an owner, for remove(). Null: in no list, because its selector matches nothing.
  using place = const std::string*;

  place put(std::string_view ns, const api::label_selector& selector, T owner) {
    if (selector.requirements().empty() && !selector.everything()) return nullptr;
    auto best = list_name(ns);
    auto best_size = std::string::npos;
    for (const auto& each : selector.requirements()) {
      if (each.op != api::label_operator::in || each.values.size() != 1) continue;
      auto name = list_name(ns, each.key, each.values.front());
      const auto size = size_of(name);
      if (size >= best_size) continue;
      best = std::move(name);
      best_size = size;
    }
    auto& list = *lists_.try_emplace(std::move(best)).first;
    list.second.push_back(owner);
    return &list.first;
  }

  void remove(place at, const T& owner) {
    if (at == nullptr) return;
    const auto list = lists_.find(*at);
    std::erase(list->second, owner);
    if (list->second.empty()) lists_.erase(list);
  }

  // Visits, unordered and once each, all owners whose selector may match these labels. The visitor
  // must match the whole selector: the index knows only one of its labels.
  template <class F>
  void each_candidate(std::string_view ns, const api::label_map& labels, F visit) const {
    visit_list(list_name(ns), visit);
    for (const auto& [key, value] : labels)
      visit_list(list_name(ns, key, value), visit);
  }

 private:
  // Namespaces and keys contain no '=', so the names of lists are unique.
  static std::string list_name(std::string_view ns, std::string_view key = {},
                               std::string_view value = {}) {
    std::string name;
    name.reserve(ns.size() + key.size() + value.size() + 2);
    name.append(ns).append("=").append(key).append("=").append(value);
    return name;
  }

  std::size_t size_of(const std::string& name) const {
    const auto list = lists_.find(name);
    return list == lists_.end() ? 0 : list->second.size();
  }

  template <class F>
  void visit_list(const std::string& name, F& visit) const {
    if (const auto list = lists_.find(name); list != lists_.end())
      for (const auto& owner : list->second)
        visit(owner);
  }

  std::unordered_map<std::string, std::vector<T>> lists_;
};

}  // namespace troupe::actors
