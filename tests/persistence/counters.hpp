// Counters that are incremented by compare and swap through any of several stores of one cluster,
// and the result of each increment.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {

class counters {
 public:
  explicit counters(std::uint64_t seed) : random_{seed} {}

  void increment(store& at) {
    std::unique_lock lock{mutex_};
    const auto name = "c" + std::to_string(random_() % 3);
    const auto found = at.read().find(key_of(name));
    const auto next = found ? std::stoi(value_of(found)) + 1 : 1;
    ++submitted_;
    lock.unlock();
    at.submit(only_if(found ? found->revision() : 0, put(name, std::to_string(next))),
              [this, name, next, &at](const outcome& result) {
                const std::lock_guard told{mutex_};
                ++answered_;
                if (result) {
                  told_[name].insert(next);
                  is_old_ = is_old_ || at.read().at() < result->at;
                } else if (result.error().code == errc::conflict) {
                  is_old_ = is_old_ || at.read().at() < result.error().actual;
                } else {
                  ++unknown_[name];
                }
              });
  }

  bool is_answered() const {
    const std::lock_guard lock{mutex_};
    return answered_ == submitted_;
  }

  // Checks that each acknowledged increment is there once: none was lost or done twice.
  void check(const snapshot& state) const {
    CHECK(is_answered());
    CHECK_FALSE(is_old_);  // a response was newer than the readable state
    for (const auto& [name, values] : told_) {
      const auto found = state.find(key_of(name));
      REQUIRE(found);
      const auto last = static_cast<std::size_t>(std::stoi(value_of(found)));
      const auto unknown = unknown_.contains(name) ? unknown_.at(name) : 0;
      CHECK(*values.rbegin() <= static_cast<int>(last));
      CHECK(values.size() + unknown >= last);
      CHECK(values.size() <= last);
    }
  }

 private:
  mutable std::mutex mutex_;
  bool is_old_ = false;
  std::mt19937_64 random_;
  int submitted_ = 0, answered_ = 0;
  std::map<std::string, std::set<int>> told_;
  std::map<std::string, std::size_t> unknown_;
};

}  // namespace troupe::persistence::testing
