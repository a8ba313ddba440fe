// The actor of one pod: requests a node for it, evicts it from a node with untolerated taints, and
// deletes it when nobody else would. There are ten thousand of them, so each keeps only the pod and
// one timer.
//
// It reads the pod and its node from the store at the start, and acts by commands to the writer;
// the results come back as events of its pod.
#pragma once

#include <memory>
#include <string>

#include "actors/core/messages.hpp"
#include "actors/pods/pod_rules.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// Shared by the actors of all pods.
struct pod_context {
  const persistence::store* store;  // outlives the actors
  runtime::actor_ref writer;
  runtime::actor_ref scheduler;
  runtime::actor_ref recorder;
};

class pod : public runtime::actor {
 public:
  explicit pod(std::shared_ptr<const pod_context> context) : context_{std::move(context)} {}

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // -- messages from the supervisor
  void on_owner_event(const owner_event& m);
  void on_dependent_event(const dependent_event& m);

  void reconcile();
  void request_node();
  void end(const pod_decision& next, const api::object* node);
  void carry_out(const pod_decision& next, const api::object* node);
  bool mark_not_ready(const api::object& node);
  bool mark_failed(const api::object* node);
  void replace(std::unique_ptr<api::body> changed);
  template <class Reply, class Command>
  void send_command(Command command);
  void reconcile_after(runtime::duration delay);
  std::string key() const;

  std::shared_ptr<const pod_context> context_;
  api::object_ptr pod_;
  runtime::timer timer_;
  // Why it must be deleted (`nothing`: it may stay), and since when by the monotonic clock.
  pod_need cause_ = pod_need::nothing;
  runtime::time_point cause_since_{};
  bool asked_for_node_ = false;
  bool ordered_ = false;  // a command is in flight
};

}  // namespace troupe::actors
