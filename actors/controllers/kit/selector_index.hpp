// Finds the owners whose selector may match an object, without a look at all others of its
// namespace. An owner stands in one list: that of a label which its selector demands (of several
// the one with the shortest list), or that of its namespace when it demands none.
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
  // Where an owner was put, for remove(). Null: nowhere, its selector matches nothing.
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

  // Visits, in no order and each once, all whose selector may match these labels. The visitor must
  // look: of a selector's demands the index knows one.
  template <class F>
  void each_candidate(std::string_view ns, const api::label_map& labels, F visit) const {
    visit_list(list_name(ns), visit);
    for (const auto& [key, value] : labels)
      visit_list(list_name(ns, key, value), visit);
  }

 private:
  // Neither namespaces nor keys have a '=': no two lists share a name.
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
