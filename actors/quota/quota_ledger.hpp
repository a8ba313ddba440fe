// The usage of each ResourceQuota: sums over the objects of its namespace, updated on
// the commit thread, and reservations for transactions in flight. The write service
// reserves before it sends a transaction, so a quota is never exceeded by concurrent
// writes.
//
// Thread safe. If no namespace has a quota a transaction costs one read of a counter. The state is
// derived: it is loaded from the objects at each start.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/quota/quota_usage.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::quota {

class quota_ledger {
 public:
  // Reads the objects of a namespace when a quota is created. The store must outlive it.
  explicit quota_ledger(const persistence::store& store) : store_{store} {}

  // See persistence::state_index.
  void load(const persistence::snapshot& state);
  void take(const std::vector<persistence::change>& changes);

  // Reserves the additions of a transaction until it is committed or released; `now` is in seconds
  // since the epoch. Returns `exceeded` in upstream's wording, and reserves nothing, if a quota is
  // exceeded. Reservations of other
  // control planes are not known here: the transaction's serial group is its namespace, so that it
  // conflicts with theirs.
  persistence::expected<std::uint64_t> reserve(persistence::transaction& transaction,
                                               std::int64_t now);
  // Called when the transaction is complete. Idempotent.
  void release(std::uint64_t id);

  // The usage of one quota.
  struct usage {
    std::string ns, key;
    api::core::v1::ResourceQuotaSpec spec;
    api::resource_list used;
  };
  // The quotas whose spec or usage has changed since the last call.
  std::vector<usage> take_changed(std::int64_t now);
  // Marks a quota as changed again because its status could not be written.
  void mark_changed(const std::string& ns, const std::string& quota_key);

 private:
  struct entry {
    std::uint64_t id = 0;
    std::string name;
    api::core::v1::ResourceQuotaSpec spec;
    api::resource_list hard, used, held;
    bool changed = true;
  };
  using entries = std::map<std::string, entry>;  // by key
  // The reservation of one object of a transaction in one quota.
  struct reservation {
    std::string object_key, ns, quota_key;
    std::uint64_t quota_id;
    api::resource_list amounts;
  };
  // A pod that is being deleted, in a namespace with quotas.
  struct leaving_pod {
    api::object_ptr object;
    std::int64_t until;
    bool overdue = false;
  };

  void take_object(const persistence::change& of);
  void take_quota(std::span<const persistence::change> changes);
  api::resource_list count_in(const persistence::snapshot& state, const std::string& ns,
                              const api::core::v1::ResourceQuotaSpec& quota);
  api::resource_list charge(const api::core::v1::ResourceQuotaSpec& quota, const std::string& key,
                            const api::object& of) const;
  void track_leaving(const std::string& key, const api::object_ptr& object);
  void forget_leaving(const std::string& key);
  void release_overdue(std::int64_t now);
  static std::optional<persistence::error> check(const std::string& key, const entry& quota,
                                                 const api::resource_list& amounts);
  void drop_reservations(std::uint64_t id, const std::string& object_key);
  void drop_all_reservations(std::uint64_t id);
  entry* find(const std::string& ns, const std::string& quota_key);

  const persistence::store& store_;
  std::atomic<std::size_t> quotas_{0};
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entries> by_namespace_;
  std::unordered_map<std::uint64_t, std::vector<reservation>> reservations_;
  std::unordered_map<std::string, std::vector<std::uint64_t>> reservations_of_object_;
  std::uint64_t last_id_ = 0;                                   // of reservations and entries
  std::unordered_map<std::string, leaving_pod> leaving_;        // by key
  std::set<std::pair<std::int64_t, std::string>> leaving_due_;  // those that are not overdue
};

}  // namespace troupe::actors::quota
