// The live children of one supervisor, found by kind and name.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_set>

#include "runtime/actor_ref.hpp"

namespace troupe::runtime {

class children {
 public:
  // Empty if no such child is alive.
  actor_ref find(std::string_view kind, std::string_view name) const;
  // Replaces an ending child of the same name.
  void add(actor_ref child);
  // False if it is not contained (any more).
  bool remove(const actor_ref& child);
  std::size_t size() const noexcept { return all_.size(); }

  template <class F>
  void each(F f) const {
    for (const auto& child : all_)
      f(child);
  }

 private:
  struct key {
    std::string_view kind;
    std::string_view name;
    bool operator==(const key&) const = default;
  };
  static key key_of(const actor_ref& ref) noexcept;
  static const key& key_of(const key& k) noexcept { return k; }

  struct hash {
    using is_transparent = void;
    template <class T>
    std::size_t operator()(const T& child) const noexcept {
      const auto& k = key_of(child);
      const std::hash<std::string_view> of;
      return of(k.name) * 31 + of(k.kind);
    }
  };
  struct equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
      return key_of(a) == key_of(b);
    }
  };

  std::unordered_set<actor_ref, hash, equal> all_;
};

}  // namespace troupe::runtime
