// A map with a maximum size that evicts the least recently used entry.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace troupe::actors {

template <class Value>
class lru {
 public:
  explicit lru(std::size_t limit) : limit_{limit} {}

  // Null if not found. The pointer is valid until the next call of `put`.
  Value* find(std::string_view key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return &found->second->second;
  }

  // Inserts or replaces the value of a key.
  Value& put(std::string key, Value value) {
    if (auto* found = find(key)) return *found = std::move(value);
    if (order_.size() == limit_) {
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    order_.emplace_front(std::move(key), std::move(value));
    places_.emplace(order_.front().first, order_.begin());
    return order_.front().second;
  }

  void erase(std::string_view key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    const auto place = found->second;
    places_.erase(found);
    order_.erase(place);
  }

  std::size_t size() const noexcept { return order_.size(); }

 private:
  using entries = std::list<std::pair<std::string, Value>>;

  std::size_t limit_;
  entries order_;  // most recently used first
  std::unordered_map<std::string_view, typename entries::iterator> places_;
};

}  // namespace troupe::actors
