#include "actors/controllers/autoscaling/autoscaling.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "actors/controllers/autoscaling/autoscaler_plan.hpp"
#include "actors/controllers/autoscaling/defaults.hpp"
#include "actors/controllers/autoscaling/metric_queries.hpp"
#include "actors/controllers/autoscaling/scale_target.hpp"
#include "actors/controllers/kit/reconciler.hpp"
#include "actors/core/condition.hpp"
#include "actors/kubelet/runtime/usage_questions.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/scale.hpp"
#include "api/strategy/strategy.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors::autoscaling {
namespace {

using api::autoscaling::v2::HorizontalPodAutoscaler;
using api::core::v1::Pod;

bool needs_usage(const HorizontalPodAutoscaler& autoscaler) {
  const auto& metrics = autoscaler.spec().metrics();
  return std::any_of(metrics.begin(), metrics.end(), [](const auto& each) {
    return each.type() == "Resource" || each.type() == "ContainerResource";
  });
}

// Joins the pods with their measured usage.
std::vector<measured_pod> measured(const std::vector<api::object_ptr>& pods,
                                   const usage_by_node& usage, runtime::wall_time now) {
  std::unordered_map<std::string_view, std::vector<container_usage>> by_uid;
  std::unordered_map<std::string_view, std::chrono::nanoseconds> windows;
  for (const auto& [node, each] : usage)
    for (const auto& [uid, container, figure] : each.containers) {
      by_uid[uid].push_back({container, figure.cpu_nano, figure.memory_bytes});
      windows[uid] = std::max(windows[uid], figure.window);
    }
  std::vector<measured_pod> result;
  for (const auto& pod : pods) {
    measured_pod made{.object = pod};
    const auto found = by_uid.find(pod->meta().uid());
    const auto node = usage.find(pod->as<Pod>().spec().node_name());
    if (found != by_uid.end() && node != usage.end()) {
      made.usage = std::move(found->second);
      made.at = seconds_of(now - node->second.age);
      made.window = std::chrono::floor<std::chrono::seconds>(windows[pod->meta().uid()]).count();
    }
    result.push_back(std::move(made));
  }
  return result;
}

class autoscaler final : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void owner_changed() override {
    if (uid_ == owner()->meta().uid()) return;
    uid_ = owner()->meta().uid();
    history_ = {};
    next_look_ = {};
    selecting_ = {};
  }

  // Two passes for each decision: the first sends the queries, the second acts on the answers.
  void sync() override {
    if (owner()->meta().has_deletion_timestamp() || asking_) return;
    const auto generation = owner()->meta().generation();
    const bool changed = generation != looked_at_generation_;
    if (now() < next_look_ && !changed) return;
    if (generation != asked_generation_) usage_.reset();
    const auto state = read_store();
    const auto target = find_target(state, body());
    // The second pass uses the pods of the first.
    if (!usage_) {
      pods_.clear();
      readings_.clear();
      foreign_usage_.reset();
      if (target) pods_ = pods_of(state, owner()->meta().namespace_(), target->scale);
      if (target && ask_servers(state, target->scale)) return;
      if (needs_usage(body()) && !pods_.empty()) return ask_usage();
    }
    next_look_ = now() + defaults::sync_period;
    if (changed || selecting_.size() != 1 || now() >= next_comparison_) {
      selecting_ = autoscalers_of(state, owner()->meta().namespace_(), pods_);
      next_comparison_ = now() + defaults::comparison_period;
    }
    looked_at_generation_ = generation;
    decide(target);
    usage_.reset();
    foreign_usage_.reset();
    readings_.clear();
    pods_.clear();
  }

  void after_sync() override {
    if (failed()) next_look_ = {};
    if (!failed() && !asking_) enqueue_in(next_look_ - now());
  }

  // Returns false if no query to the servers of metrics APIs is needed.
  bool ask_servers(const persistence::snapshot& state, const api::autoscaling::v1::Scale& scale) {
    const auto& ns = owner()->meta().namespace_();
    const auto& pods = scale.status().selector();
    query_metrics question;
    std::vector<int> places;
    const auto& metrics = body().spec().metrics();
    for (int place = 0; place < metrics.size(); ++place) {
      if (!is_foreign(metrics[place])) continue;
      auto query = query_for(metrics[place], ns, pods);
      if (!query) {
        readings_[place] = tl::make_unexpected(std::move(query.error()));
        continue;
      }
      places.push_back(place);
      question.queries.push_back(std::move(*query));
    }
    if (auto query = usage_query(state, ns, pods); query && needs_usage(body()) && !pods_.empty())
      question.queries.push_back(std::move(*query));
    const auto client = system().actors().find(metrics_client_kind, metrics_client_kind);
    if (question.queries.empty() || !client) return false;
    asking_ = true;
    asked_generation_ = owner()->meta().generation();
    request<metrics_result>(client, std::move(question), defaults::usage_wait,
                            [this, places](const auto& answered) {
                              asking_ = false;
                              take_metrics(places, answered ? *answered : nullptr);
                            });
    return true;
  }

  // Null: no answer.
  void take_metrics(const std::vector<int>& places, const metrics_result* reply) {
    for (std::size_t i = 0; i < places.size(); ++i)
      readings_[places[i]] = reply != nullptr && i < reply->answers.size()
                                 ? reply->answers[i]
                                 : tl::make_unexpected(std::string{"context deadline exceeded"});
    if (reply != nullptr && reply->answers.size() > places.size())
      foreign_usage_ = reply->answers.back();
    const bool ours = !foreign_usage_ && needs_usage(body()) && !pods_.empty();
    if (ours && !usage_query(read_store(), owner()->meta().namespace_(), {})) return ask_usage();
    usage_ = usage_by_node{};
    enqueue();
  }

  void ask_usage() {
    query_nodes question;
    for (const auto& pod : pods_)
      if (pod->as<Pod>().status().phase() == "Running")
        question.nodes.insert(pod->as<Pod>().spec().node_name());
    asking_ = true;
    asked_generation_ = owner()->meta().generation();
    const auto collector = system().actors().find(usage_collector_kind, usage_collector_kind);
    request<nodes_usage>(collector, std::move(question), defaults::usage_wait,
                         [this](const auto& answered) {
                           asking_ = false;
                           usage_ = answered ? (*answered)->by_node : usage_by_node{};
                           enqueue();
                         });
  }

  void decide(const result<scale_target>& target) {
    const sync_time at{now(), wall_now()};
    result<target_view> view = tl::make_unexpected(target ? std::string{} : target.error());
    if (target)
      view = target_view{target->scale,
                         foreign_usage_
                             ? measured_by(*foreign_usage_, pods_)
                             : measured(pods_, usage_.value_or(usage_by_node{}), at.wall_now),
                         selecting_, std::move(readings_)};
    auto plan = plan_scaling(body(), view, history_, at);
    if (plan.rescale_to) return rescale(*target, std::move(plan), at);
    write_status(std::move(plan));
  }

  void write_status(autoscaler_plan plan) {
    for (auto& event : plan.events)
      record(event.warning, std::move(event.reason), std::move(event.message));
    auto changed = with_status(plan);
    if (!api::same_meaning(*changed, owner()->content())) replace(owner(), std::move(changed));
  }

  // Writes target and status in one transaction, so that a change is always reported.
  void rescale(const scale_target& target, autoscaler_plan plan, const sync_time& at) {
    const auto& was = *target.object;
    const auto from = target.scale.spec().replicas();
    auto scale = target.scale;
    scale.mutable_spec()->set_replicas(*plan.rescale_to);
    auto scaled = was.copy();
    if (const auto set = api::set_scale(was.kind(), *scaled, scale); !set)
      return write_status(refused(body(), std::move(plan), set.error().message, at));
    api::prepare_update(was.kind(), *scaled, was.content());
    const auto target_key = api::key_of(was);
    persistence::transaction transaction;
    transaction.preconditions = {{target_key, was.revision()}, {key(), owner()->revision()}};
    transaction.mutations.push_back({target_key, &was.kind(), std::move(scaled)});
    transaction.mutations.push_back({key(), &owner()->kind(), with_status(plan)});
    send_transaction(std::move(transaction),
                     [this, plan, from, at](const answer<commit_done>& answered) {
                       refresh(key());
                       if (!answered) return retry();
                       const auto& result = (*answered)->result;
                       if (result) return rescaled(plan, from, result->at);
                       if (result.error().code == persistence::errc::conflict) return retry();
                       write_status(refused(body(), plan, result.error().message, at));
                     });
  }

  void rescaled(autoscaler_plan plan, std::int32_t from, persistence::revision at) {
    note_scaled(body().spec(), history_, from, *plan.rescale_to, now());
    log_step("changes", key(), at);
    for (auto& event : plan.events) {
      if (!event.warning) log_decision(event.message);
      record(event.warning, std::move(event.reason), std::move(event.message));
    }
  }

  const HorizontalPodAutoscaler& body() const { return owner()->as<HorizontalPodAutoscaler>(); }

  std::unique_ptr<api::body> with_status(const autoscaler_plan& plan) const {
    auto changed = owner()->copy_as<HorizontalPodAutoscaler>();
    *changed->mutable_status() = plan.status;
    return changed;
  }

  std::string uid_;
  scaling_history history_;
  // For the current decision: the pods and their usage.
  std::vector<api::object_ptr> pods_;
  std::optional<usage_by_node> usage_;
  std::optional<metric_values> foreign_usage_;  // theirs, from another server
  std::map<int, metric_values> readings_;       // of other metrics, by index in the spec
  bool asking_ = false;
  // The autoscalers that select some of the pods, as of the last comparison.
  std::vector<std::string> selecting_;
  runtime::time_point next_look_{}, next_comparison_{};
  std::int64_t looked_at_generation_ = 0, asked_generation_ = 0;
};

}  // namespace

controller_type controller() {
  return {.name = "autoscaling",
          .purpose = "the number of pods of its target, by their resource usage",
          .owners = {{.kind = &api::kind_of<HorizontalPodAutoscaler>(),
                      .actor_kind = "horizontalpodautoscaler",
                      .component = "horizontal-pod-autoscaler"}},
          .dependents = {},
          .make = make_controller<autoscaler>};
}

}  // namespace troupe::actors::autoscaling
