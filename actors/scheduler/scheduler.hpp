// The scheduler: takes unbound pods from its queue, chooses a node for each, and binds it.
//
// One actor. Its state is the queue of unbound pods and a view of the cluster, both fed by the
// watcher. After a restart they are rebuilt after a barrier through the writer, so that binds in
// flight are included and no node is overcommitted. A pod is assumed on its node while the writer
// binds it, and bound once the writer answers. The writer rejects outdated binds, and the pod is
// retried (1 s, doubling). An exception of a plugin costs the pod one attempt.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/scheduler/algorithm.hpp"
#include "actors/scheduler/framework/cluster_view.hpp"
#include "actors/scheduler/profile.hpp"
#include "actors/scheduler/queue.hpp"

namespace troupe::actors {

struct scheduler_options {
  std::string name = scheduler::defaults::scheduler_name;  // of the actor
  // It schedules only pods that name the scheduler of one of these profiles. All profiles share one
  // queue with the order and back-off of the first.
  std::vector<scheduler::profile_options> profiles;
};

// Starts it. The profiles must be valid (scheduler::profile::make), or it never starts.
runtime::actor_ref spawn_scheduler(runtime::actor_system& system, const core_actors& core,
                                   scheduler_options options);

namespace scheduler {

class scheduler_actor : public informer {
 public:
  scheduler_actor(const scheduler_options& options, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct continue_work {};
  struct plugin_bound {
    std::uint64_t id;
    api::expected<api::object_ptr> result;
  };

  // -- messages -----------------------------------------------------------------------------------
  void on_schedule(const schedule& m);
  void on_unschedule(const unschedule& m);
  void on_continue_work(const continue_work&);
  void on_plugin_bound(const plugin_bound& m);
  void on_namespaces(const watch_events& m);
  void on_budgets(const watch_events& m);
  void on_nodes(const watch_events& m);
  void on_pods(const watch_events& m);
  void on_volumes(const watch_events& m);

  void await_barrier();
  void begin();

  // -- state --------------------------------------------------------------------------------------
  void take_namespace(const watch_event& event);
  void take_node(const watch_event& event);
  void take_pod(const watch_event& event);
  void enqueue(const api::object_ptr& pod, std::uint64_t request);
  void remove_pod(const std::string& key);
  void happened(std::uint32_t events);
  struct served_profile;
  served_profile* find_profile(const std::string& scheduler_name);
  served_profile& profile_of(const pod_info& pod);
  static std::vector<served_profile> serve(const scheduler_options& options);

  // -- one pod ------------------------------------------------------------------------------------
  void wake();
  void schedule_one(const pod_info_ptr& pod);
  status reserve(const pod_info_ptr& pod, const std::string& node);
  void unreserve(const pod_info_ptr& pod, const std::string& node);
  void bind_pod(const pod_info_ptr& pod, const std::string& node);
  preparation pre_bind(const pod_info& pod, const std::string& node, bool again);
  void continue_preparing(const std::string& pod_key);
  void write_for(const pod_info_ptr& pod, std::uint64_t attempt,
                 persistence::transaction transaction);
  void send_bind(const pod_info_ptr& pod, const std::string& node);
  bool bind_by_plugin(const pod_info_ptr& pod, const std::string& node);
  void bind_ended(const pod_info_ptr& pod, const std::string& node,
                  const api::expected<api::object_ptr>& result);
  void bound(const api::object_ptr& pod, const std::string& node);
  void bind_failed(const pod_info_ptr& pod, const std::string& node, const api::error& error);
  std::string attempt(const pod_info_ptr& pod, const std::string& nominated);
  std::string handle_unschedulable(const pod_info_ptr& pod, const scheduler::fit_error& fit_error,
                                   const std::string& nominated);
  void preempt(const pod_info_ptr& pod, const scheduler::preemption& preemption);
  bool are_victims_terminating(const pod_info& pod, const std::string& node) const;
  void plugin_failed(const pod_info_ptr& pod);
  void report_unschedulable(const pod_info_ptr& pod, const std::string& reason,
                            const std::string& message, const std::string& nominated);
  void record(const pod_info_ptr& pod, bool warning, std::string reason, std::string message);

  struct served_profile {
    std::unique_ptr<profile> plugins;
    scheduler::algorithm algorithm;

    const std::string& scheduler_name() const { return plugins->options().scheduler_name; }
  };

  const core_actors core_;
  std::vector<served_profile> profiles_;  // never empty
  cluster_view view_;
  queue queue_;
  bool begun_ = false;
  bool continuing_ = false;
  std::size_t binding_ = 0;
  struct plugin_bind {
    pod_info_ptr pod;
    std::string node;
    runtime::timer limit;
  };
  // A pod whose volumes are being prepared.
  struct preparing {
    pod_info_ptr pod;
    std::string node;
    std::uint64_t attempt;
    std::size_t writes = 0;  // in flight
    runtime::timer limit;
  };
  std::unordered_map<std::string, preparing> preparing_;  // by key
  std::uint64_t last_attempt_ = 0;
  std::unordered_map<std::uint64_t, plugin_bind> plugin_binds_;  // in flight
  std::uint64_t last_plugin_bind_ = 0;
  runtime::timer barrier_timer_, due_timer_, flush_timer_;
  std::uint64_t bound_ = 0, refused_ = 0, failed_ = 0;
};

}  // namespace scheduler
}  // namespace troupe::actors
