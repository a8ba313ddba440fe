// What is used of each ResourceQuota: the sums over the objects of its namespace, kept by the
// commits themselves, and what transactions on their way to the store are going to add. The write
// service asks before it sends a transaction, so a quota is never exceeded, however many write at
// once.
//
// Thread safe. Where no namespace has a quota a transaction costs one look at a number.
// State that can be derived: it is loaded from the objects at each start.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/quota/quota_usage.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::quota {

class quota_ledger {
 public:
  // Reads the objects of a namespace when a quota is made in it. The store outlives it.
  explicit quota_ledger(const persistence::store& store) : store_{store} {}

  // As persistence::state_index says.
  void load(const persistence::snapshot& state);
  void take(const std::vector<persistence::change>& changes);

  // Holds what the transaction adds until it is committed or released. `exceeded` in upstream's
  // words where it does not fit: then nothing is held. 0: there is nothing to hold.
  persistence::expected<std::uint64_t> reserve(const persistence::transaction& transaction);
  // The transaction has been answered. Idempotent.
  void release(std::uint64_t id);

  // What is used of one quota.
  struct usage {
    std::string ns, key;
    api::core::v1::ResourceQuotaSpec spec;
    api::resource_list used;
  };
  // The quotas that have changed since the last call, or of which more or less is used.
  std::vector<usage> take_changed();
  // It could not be written down: it is among the next ones again.
  void mark_changed(const std::string& ns, const std::string& quota_key);

 private:
  struct entry {
    std::string name;
    api::core::v1::ResourceQuotaSpec spec;
    api::resource_list hard, used, held;
    bool changed = true;
  };
  using entries = std::map<std::string, entry>;  // by key
  // What one object of a transaction adds to one quota.
  struct hold {
    std::string object_key, ns, quota_key;
    api::resource_list amounts;
  };

  void take_object(const persistence::change& of);
  void take_quota(std::span<const persistence::change> changes);
  static api::resource_list count_in(const persistence::snapshot& state, const std::string& ns,
                                     const api::core::v1::ResourceQuotaSpec& quota);
  static std::optional<persistence::error> check(const std::string& key, const entry& quota,
                                                 const api::resource_list& amounts);
  void drop_holds(std::uint64_t id, const std::string& object_key);
  void drop_all_holds(std::uint64_t id);
  entry* find(const std::string& ns, const std::string& quota_key);

  const persistence::store& store_;
  std::atomic<std::size_t> quotas_{0};
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entries> by_namespace_;
  std::unordered_map<std::uint64_t, std::vector<hold>> holds_;
  std::unordered_map<std::string, std::vector<std::uint64_t>> holds_of_object_;
  std::uint64_t last_id_ = 0;
};

}  // namespace troupe::actors::quota
