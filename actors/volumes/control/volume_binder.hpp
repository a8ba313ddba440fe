// The controller that binds claims to volumes, provisions volumes by the built-in provisioner, and
// releases or removes volumes of deleted claims (kubernetes: persistentvolume-binder).
//
// One actor for all claims, because each free volume concerns every claim of its class. It keeps
// only keys from its streams: waiting claims, free volumes, references. It decides
// (binder_plan.hpp) on the newest snapshot and writes with the revisions it has read as
// preconditions, both sides of a binding in one transaction. So after any crash no volume has two
// claims and no claim two volumes. A failed write is retried after `defaults::retry`; waiting
// claims are synced again every `defaults::resync_period`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/volumes/binder_plan.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::volumes {

struct binder_options {
  // At the start: creates the class local-path as the default one, unless it exists.
  bool make_class = false;
};

class volume_binder : public informer {
 public:
  // The store must outlive it.
  volume_binder(const persistence::store* store, core_actors core, binder_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct continue_work {};
  using key_set = std::set<std::string>;

  // -- messages -----------------------------------------------------------------------------------
  void on_claims(const watch_events& m);
  void on_volumes(const watch_events& m);
  void on_classes(const watch_events& m);
  void on_nodes(const watch_events& m);
  void on_continue_work(const continue_work&);

  void forget_claim(const std::string& key, const PersistentVolumeClaim& claim);
  void forget_volume(const std::string& key, const PersistentVolume& volume);
  void enqueue(const std::string& key);
  void enqueue(const key_set& keys);
  void enqueue_waiting();
  void wake();

  // -- one object ---------------------------------------------------------------------------------
  void sync_claim(const persistence::snapshot& state, const std::string& key);
  void sync_volume(const persistence::snapshot& state, const std::string& key);
  std::vector<api::object_ptr> candidates(const persistence::snapshot& state,
                                          const PersistentVolumeClaim& claim,
                                          const std::string& key) const;
  void take_step(const persistence::snapshot& state, const api::object_ptr& claim,
                 const claim_step& step);
  void bind(const api::object_ptr& claim, const api::object_ptr& volume);
  void expand(const api::object_ptr& claim, const api::object_ptr& volume);
  void provision(const persistence::snapshot& state, const api::object_ptr& claim);
  api::object_ptr choose_node(const persistence::snapshot& state,
                              const StorageClass& storage_class);
  void ask_for_another_node(const api::object_ptr& claim, const std::string& problem);
  void change_volume(const api::object_ptr& volume, const volume_step& step);
  void remove_volume(const api::object_ptr& volume);

  void make_class();
  persistence::transaction change(const api::object_ptr& before,
                                  std::unique_ptr<api::body> after) const;
  void commit_for(const api::object_ptr& about, persistence::transaction transaction,
                  std::function<void()> done = {});
  void answered(const key_set& keys, bool succeeded);
  void record(const api::object_ptr& about, const note& event);

  const persistence::store* store_;
  const core_actors core_;
  const binder_options options_;

  std::map<std::string, key_set> waiting_;          // claims without a volume, by class
  std::map<std::string, key_set> naming_;           // claims, by the name of their volume
  std::map<std::string, key_set> free_;             // volumes without a claim, by class
  std::map<std::string, key_set> of_claim_;         // volumes, by the key of their claim
  std::map<std::string, key_set> kept_by_;          // volumes with a directory, by node
  std::map<std::string, api::object_ptr> classes_;  // by name
  std::vector<std::string> ready_;                  // nodes that can get new volumes, sorted
  key_set due_, busy_;                              // to be synced; with a pending write
  key_set later_;                                   // to be synced after a write, or after a pause
  bool continuing_ = false, made_class_ = false;
  std::size_t under_way_ = 0;
  runtime::timer again_, resync_;
  std::uint64_t bound_ = 0, provisioned_ = 0, removed_ = 0;
};

}  // namespace troupe::actors::volumes
