// A map with text keys and structural sharing: a change copies one shard. Copying the map costs one
// reference count for each shard. Values must be cheap to copy.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "actors/core/text_map.hpp"

namespace troupe::actors::access {

template <class Value>
class shard_map {
 public:
  // Null if not found; valid as long as this map.
  const Value* find(std::string_view key) const {
    const auto& at = shards_[place(key)];
    if (!at) return nullptr;
    const auto found = at->find(key);
    return found == at->end() ? nullptr : &found->second;
  }

  // `change` gets the value, or a new one, and returns whether to keep it.
  template <class F>
  void update(const std::string& key, F change) {
    auto& at = shards_[place(key)];
    auto copy = at ? std::make_shared<shard>(*at) : std::make_shared<shard>();
    const auto found = copy->try_emplace(key).first;
    if (!change(found->second)) copy->erase(found);
    at = std::move(copy);
  }

  std::size_t size() const {
    std::size_t out = 0;
    for (const auto& at : shards_)
      if (at) out += at->size();
    return out;
  }

 private:
  using shard = text_map<Value>;
  static constexpr std::size_t count = 64;

  // Uses other bits of the hash than the choice of the bucket.
  static std::size_t place(std::string_view key) noexcept { return hash_of_text{}(key) >> 58; }

  std::array<std::shared_ptr<const shard>, count> shards_;
};

}  // namespace troupe::actors::access
