// Protects claims and volumes in use from deletion and creates claims of ephemeral volumes
// (kubernetes: pvc-protection-controller, pv-protection-controller, ephemeral-volume-controller).
//
// One actor. It keeps from its streams which pods use which claim, and which objects are
// terminating; it decides on the newest snapshot and writes with the revisions it has read as
// preconditions. A failure is retried after `defaults::retry`.
#pragma once

#include <map>
#include <set>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/volumes/protection_rules.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::volumes {

class claim_controller : public informer {
 public:
  // The store must outlive it.
  claim_controller(const persistence::store* store, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_pods(const watch_events& m);
  void on_deleted(const watch_events& m);

  void wake();
  void sync_pod(const persistence::snapshot& state, const std::string& key);
  void sync_deleting(const persistence::snapshot& state, const std::string& key);
  bool is_used(const persistence::snapshot& state, const api::object& claim) const;
  void make_claim(const persistence::snapshot& state, const api::object_ptr& pod,
                  const pod_claim& missing);
  void refuse(const api::object_ptr& pod, const pod_claim& missing, const std::string& problem);
  void send(const std::string& key, persistence::transaction transaction);

  const persistence::store* store_;
  const core_actors core_;
  std::map<std::string, std::set<std::string>> users_;  // pods, by the key of a claim they use
  std::set<std::string> deleted_;                       // terminating claims and volumes
  std::set<std::string> due_;                           // pods, claims, volumes to be synced
  std::size_t under_way_ = 0;
  std::set<std::string> refused_;  // pods whose claim could not be created
  runtime::timer again_, resync_;
  std::uint64_t released_ = 0, made_ = 0;
};

}  // namespace troupe::actors::volumes
