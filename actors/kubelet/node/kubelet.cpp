#include "actors/kubelet/node/kubelet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/access/node_identity.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/log.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/node/admission.hpp"
#include "actors/kubelet/node/defaults.hpp"
#include "actors/kubelet/node/feature_admission.hpp"
#include "actors/kubelet/node/node_events.hpp"
#include "actors/kubelet/pressure/pressure_reader.hpp"
#include "actors/kubelet/usage/usage_reader.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "actors/kubelet/workers/references.hpp"
#include "actors/kubelet/workers/volume_remover.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

constexpr const char* worker_kind = "pod-worker";

// Includes the uid: a pod may be recreated under its name while the old one is still terminating.
std::string worker_name(const api::object& pod) {
  return fmt::format("{}/{}/{}", pod.meta().namespace_(), pod.meta().name(), pod.meta().uid());
}

std::string uid_in(const std::string& worker_name) {
  return worker_name.substr(worker_name.rfind('/') + 1);
}

}  // namespace

std::shared_ptr<job_queue> make_kubelet_jobs() {
  return std::make_shared<job_queue>("containers", kubelet_defaults::runtime_threads,
                                     kubelet_defaults::runtime_queue);
}

runtime::actor_ref spawn_kubelet(runtime::actor_system& system, const core_actors& to,
                                 kubelet_options options) {
  const auto& containers = options.containers;
  const kubelet_helpers helpers{
      containers, options.jobs,
      std::make_shared<health_checker>("probes", kubelet_defaults::probe_threads, containers),
      std::make_shared<health_checker>("hooks", kubelet_defaults::hook_threads, containers)};
  auto facts = read_node_facts();
  facts.disk_bytes = read_supplies(options.root_dir).disk.all;
  facts.may_mount &= options.may_mount;
  if (!facts.may_mount)
    log().warn("kubelet: secret volumes are kept on disk below {}: this node may not mount",
               options.root_dir.string());
  return system.spawn({.kind = "kubelet", .name = options.node},
                      [options, to, helpers, facts = std::move(facts)] {
                        return std::make_unique<kubelet>(options, facts, to, helpers);
                      });
}

namespace {

// Asks again if the kubelet crashes before it has answered.
template <class Request, class Answer>
void ask_to_end(runtime::actor_system& system, const runtime::actor_ref& kubelet,
                runtime::duration limit, std::function<void(bool)> done) {
  const auto until = system.time().now() + limit;
  system.request<Answer>(
      kubelet, Request{}, limit, [&system, kubelet, until, done = std::move(done)](auto reply) {
        const auto left = until - system.time().now();
        const bool crashed = !reply && reply.error() == runtime::request_error::broken;
        if (!crashed || left <= runtime::duration{0}) return done(reply.has_value());
        ask_to_end<Request, Answer>(system, kubelet, left, done);
      });
}

}  // namespace

void end_all_pods(runtime::actor_system& system, const runtime::actor_ref& kubelet,
                  runtime::duration limit, std::function<void(bool)> done) {
  ask_to_end<end_pods, pods_ended>(system, kubelet, limit, std::move(done));
}

void shut_down_pods(runtime::actor_system& system, const runtime::actor_ref& kubelet,
                    runtime::duration limit, std::function<void(bool)> done) {
  ask_to_end<shut_down, pods_shut_down>(system, kubelet, limit, std::move(done));
}

kubelet::kubelet(kubelet_options options, node_facts facts, core_actors to, kubelet_helpers helpers)
    : node_agent{options.node, to, options.timing},
      options_{std::move(options)},
      facts_{std::move(facts)},
      context_{std::make_shared<kubelet_context>()} {
  context_->to = to;
  context_->helpers = std::move(helpers);
  context_->kubelet = self();
  context_->tokens = options_.tokens;
  context_->guard = options_.guard;
  context_->root_dir = options_.root_dir;
  context_->node = options_.node;
  context_->addresses = {options_.address, {options_.address}, options_.second_address};
  if (!options_.second_address.empty())
    context_->addresses.pod_ips.push_back(options_.second_address);
  context_->api = options_.api;
  context_->api.by_service = options_.has_service_rules;
  describe_machine(facts_, options_.max_pods, context_->machine);
  reserve(options_.reserved, context_->machine);
  context_->storage_measuring = options_.storage_measuring;
  context_->event_repetition = options_.event_repetition;
  context_->least_kill_limit = options_.least_kill_limit;
  context_->may_mount = facts_.may_mount;
  context_->hidden = options_.hidden;
}

const runtime::behavior& kubelet::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &kubelet::on_watch_events, &kubelet::on_watch_ended, &kubelet::on_worker_started,
      &kubelet::on_pods_listed, &kubelet::on_pods_found, &kubelet::on_child_ended,
      &kubelet::on_end_pods, &kubelet::on_pressures_seen, &kubelet::on_list_running_pods,
      &kubelet::on_evict_pod, &kubelet::on_shut_down);
  return table;
}

namespace {

void show_images(const std::vector<stored_image>& images, api::core::v1::NodeStatus& status) {
  status.clear_images();
  for (const auto& each : images) {
    auto& image = *status.add_images();
    image.mutable_names()->Assign(each.names.begin(), each.names.end());
    image.set_size_bytes(each.size_bytes);
  }
}

// Whether the Node's status has the runtime's version and images.
bool shows_runtime(const api::core::v1::NodeStatus& shown, const container_runtime& runtime) {
  api::core::v1::NodeStatus now;
  show_images(runtime.images(), now);
  return shown.node_info().container_runtime_version() == runtime.features().version &&
         shown.images_size() == now.images_size() &&
         std::equal(shown.images().begin(), shown.images().end(), now.images().begin(),
                    [](const auto& a, const auto& b) {
                      return a.size_bytes() == b.size_bytes() &&
                             std::equal(a.names().begin(), a.names().end(), b.names().begin(),
                                        b.names().end());
                    });
}

}  // namespace

void kubelet::started() {
  context_->helpers.node_ready->store(false);
  context_->references = spawn({.kind = "references", .name = node()},
                               runtime::make<references>(context_->to.watcher));
  watch_pressure(spawn({.kind = usage_meter_kind, .name = node()},
                       runtime::make<usage_meter>(make_usage_reader(
                           options_.containers, options_.jobs, supplies_reader()))));
  options_.containers->limit_pods(limits_of_pods(facts_, options_.reserved));
  spawn({.kind = "volume-remover", .name = node()},
        runtime::make<volume_remover>(context_->to, node(), options_.root_dir, options_.jobs));
  follow_node();
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.on_node = node()});
  sweep_ = every(options_.orphan_sweep, [this] { sweep_orphans(); });
  runtime_check_ = every(node_defaults::runtime_check, [this] { check_runtime(); });
}

void kubelet::check_runtime() {
  if (!node_object()) return;
  const auto problem = options_.containers->image_problem();
  if (std::exchange(image_problem_, problem) != problem && !problem.empty())
    record_node_event(true, "FreeDiskSpaceFailed", problem);
  if (has_new_network_problem() || options_.containers->problem().empty() != shown_ready() ||
      !shows_runtime(node_object()->as<Node>().status(), *options_.containers))
    refresh_node();
}

std::string kubelet::describe() const {
  return fmt::format("node: {}\nrootDir: {}\npods: {}\n", node(), options_.root_dir.string(),
                     pods_.size());
}

// -- pods and their workers -----------------------------------------------------------------------

void kubelet::on_pods(const watch_events& m) {
  if (ending_) return;
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    const auto& meta = event.object->meta();
    const bool gone = event.type == event_type::deleted;
    if (gone && !pods_.contains(meta.uid())) continue;
    auto& pod = pods_[meta.uid()];
    pod.object = event.object;
    pod.request = event.cause.request;
    pod.at = event.at;
    pod.gone = gone;
    if (gone && !pod.worker) {
      pods_.erase(meta.uid());
    } else if (pod.worker || admitted_before(event.object->as<Pod>()) ||
               child(worker_kind, worker_name(*event.object))) {
      take(pod);
    } else if (std::find(waiting_.begin(), waiting_.end(), meta.uid()) == waiting_.end()) {
      waiting_.push_back(meta.uid());
    }
  }
  if (m.synced && !std::exchange(synced_, true)) {
    adopt_workers();
    sweep_orphans();
    if (shutting_down_) begin_shutdown();
  }
  admit_pods();
  check_shutdown();
}

void kubelet::take(known_pod& pod) {
  current_cause({pod.request, pod.at});
  const auto& meta = pod.object->meta();
  log().debug("kubelet: pod {}/{} at revision {}{}", meta.namespace_(), meta.name(), pod.at,
              pod.gone     ? " is deleted"
              : pod.worker ? ""
                           : " is admitted");
  if (!pod.worker)
    pod.worker = worker_for(worker_name(*pod.object), api::key_of(*pod.object), meta.uid());
  const auto& body = pod.object->as<Pod>();
  if (!pod.allocation)
    pod.allocation = std::make_shared<const pod_allocation>(recorded_allocation(body));
  if ((pod.allocation->pending ||
       !same_amounts(desired_resources(body), pod.allocation->resources)) &&
      std::find(resizing_.begin(), resizing_.end(), meta.uid()) == resizing_.end())
    resizing_.push_back(meta.uid());
  count(pod);
  notify_worker(pod);
}

// Adds or updates the pod's resources in the node's view, until the pod has ended.
void kubelet::count(const known_pod& pod) {
  if (pod.gone || finished(pod.object->as<Pod>().status()))
    node_view_.remove_pod(api::key_of(*pod.object));
  else
    node_view_.put_pod(info_of(pod), node());
}

// Runs once all initial pods are known. A rejected pod stays among them until its rejection is in
// the store.
void kubelet::admit_pods() {
  const auto* here = node_view_.find(node());
  if (!synced_ || ending_ || here == nullptr || !here->present() ||
      !here->body().status().allocatable().contains("pods"))
    return;
  resize_pods();
  std::erase_if(waiting_, [&](const std::string& uid) {
    const auto found = pods_.find(uid);
    if (found == pods_.end() || found->second.worker) return true;
    auto& pod = found->second;
    if (pod.rejecting) return false;
    auto failure = shutting_down_ ? shutdown_rejection()
                                  : pressure_rejection(pod.object->as<Pod>(), pressures_);
    if (!failure)
      failure = feature_rejection(pod.object->as<Pod>(),
                                  {.app_armor = facts_.app_armor,
                                   .strict_groups = options_.containers->has_strict_groups(),
                                   .unsafe_sysctls = options_.unsafe_sysctls});
    if (!failure) failure = rejection(*scheduler::read_pod_info(pod.object), *here);
    if (failure) {
      reject(pod, *failure);
      return false;
    }
    take(pod);
    return true;
  });
  share_cpu();
}

void kubelet::share_cpu() {
  std::int64_t milli_cpu = 0;
  for (const auto& each : node_view_.find(node())->pods())
    if (each->body().status().qos_class() == "Burstable") milli_cpu += each->requests.milli_cpu;
  if (std::exchange(burstable_milli_cpu_, milli_cpu) != milli_cpu)
    options_.containers->share_cpu(milli_cpu);
}

// The write requires the Node's revision that was checked: its resources may have changed since.
void kubelet::reject(known_pod& pod, const pod_failure& failure) {
  pod.rejecting = true;
  log().info("kubelet: {} at revision {} is rejected: {}: {}", api::key_of(*pod.object),
             pod.object->revision(), failure.reason, failure.message);
  current_cause({pod.request, pod.at});
  auto changed = pod.object->copy_as<Pod>();
  *changed->mutable_status() = rejected_status(*changed, failure);
  auto transaction = std::make_shared<persistence::transaction>();
  const auto key = api::key_of(*pod.object);
  transaction->preconditions.push_back({key, pod.object->revision()});
  transaction->preconditions.push_back({api::key_of(*node_object()), node_object()->revision()});
  transaction->mutations.push_back({key, &pod.object->kind(), std::move(changed)});
  transaction->cause = {
      .request = pod.request, .trigger = pod.object->revision(), .author = "kubelet/" + node()};
  request<commit_done>(to().writer, commit{std::move(transaction)}, kubelet_defaults::write_timeout,
                       [this, failure, object = pod.object](const auto& answered) {
                         if (!answered || !(*answered)->result) {
                           const auto found = pods_.find(object->meta().uid());
                           if (found != pods_.end()) found->second.rejecting = false;
                           const auto again = [this] { admit_pods(); };
                           admission_ = after(kubelet_defaults::status_retry, again);
                           return;
                         }
                         tell(to().recorder, record_event{.about = object,
                                                          .warning = true,
                                                          .reason = failure.reason,
                                                          .message = failure.message,
                                                          .component = "kubelet",
                                                          .host = node()});
                       });
}

void kubelet::node_changed() {
  context_->helpers.node_ready->store(shown_ready());
  record_node_events();
  if (node_object())
    node_view_.put_node(node_object());
  else
    node_view_.remove_node(node());
  admit_pods();
}

void kubelet::record_node_events() {
  if (!node_object()) return;
  const auto before = std::exchange(recorded_node_, node_object());
  const auto& now = node_object()->as<Node>();
  if (!before) record_node_event(false, "Starting", "Starting kubelet.");
  for (auto& each : before ? events_of_change(before->as<Node>(), now) : events_of_start(now))
    record_node_event(each.warning, std::move(each.reason), std::move(each.message));
}

void kubelet::record_node_event(bool warning, std::string reason, std::string message) {
  tell(to().recorder, record_event{.about = node_object(),
                                   .warning = warning,
                                   .reason = std::move(reason),
                                   .message = std::move(message),
                                   .component = "kubelet",
                                   .host = node()});
}

runtime::actor_ref kubelet::worker_for(const std::string& name, const std::string& key,
                                       const std::string& uid) {
  return spawn({.kind = worker_kind, .name = name},
               [key, uid, context = std::shared_ptr<const kubelet_context>{context_}] {
                 return std::make_unique<pod_worker>(key, uid, context);
               });
}

void kubelet::notify_worker(known_pod& pod) {
  if (pod.allocation != pod.told) tell(pod.worker, allocation_changed{pod.allocation});
  pod.told = pod.allocation;
  tell(pod.worker, owner_event{.object = pod.object, .at = pod.at, .gone = pod.gone});
}

void kubelet::on_worker_started(const worker_started& m) {
  const auto found = pods_.find(m.uid);
  if (found == pods_.end()) return;
  found->second.told = nullptr;
  notify_worker(found->second);
  shut_down_in_step(found->second);
}

void kubelet::on_child_ended(const runtime::child_ended& m) {
  std::erase_if(pods_, [&](const auto& entry) { return entry.second.worker == m.child; });
  answer_if_ended();
  check_shutdown();
}

// The control plane may never have sent the list of pods, so the disk is read too.
void kubelet::on_end_pods(const end_pods&, runtime::promise<pods_ended> answer) {
  end_requests_.push_back(std::move(answer));
  if (std::exchange(ending_, true)) return answer_if_ended();
  std::erase_if(pods_, [](const auto& entry) { return !entry.second.worker; });
  adopt_workers();
  for (auto& [uid, pod] : pods_) {
    pod.gone = true;
    notify_worker(pod);
  }
  list_leftovers();
}

void kubelet::answer_if_ended() {
  if (!ending_ || !leftovers_known_ || !pods_.empty()) return;
  for (auto& asked : std::exchange(end_requests_, {}))
    asked.deliver({});
}

// Adopts workers that outlived a crash of this actor, even if their pods were removed meanwhile.
void kubelet::adopt_workers() {
  std::vector<std::string> names;
  system().actors().each([&](const runtime::actor_info& info) {
    if (info.parent == self().id() && info.kind == worker_kind &&
        !pods_.contains(uid_in(info.name)))
      names.push_back(info.name);
  });
  for (const auto& name : names) {
    auto& pod = pods_[uid_in(name)];
    pod.worker = child(worker_kind, name);
    pod.gone = true;
    if (pod.worker) notify_worker(pod);
  }
}

// Pods that were deleted while no node ran: a worker is started to clean up each of them.
void kubelet::sweep_orphans() {
  if (synced_ || ending_) list_leftovers();
}

// First the pods known to the runtime, then directories with volumes. A runtime that is away
// answers when it is back: until then it is not asked again.
void kubelet::list_leftovers() {
  if (std::exchange(listing_pods_, true)) return;
  context_->helpers.containers->list_pods(
      [to = self()](std::vector<std::string> uids) { to.tell(pods_listed{std::move(uids)}); });
}

void kubelet::on_pods_listed(const pods_listed& m) {
  listing_pods_ = false;
  const bool taken = context_->helpers.jobs->post(
      [uids = m.uids, root = options_.root_dir, to = self()]() mutable {
        for (auto& uid : pods_on_disk(root))
          uids.push_back(std::move(uid));
        to.tell(pods_found{std::move(uids)});
      });
  if (!taken) listing_ = after(kubelet_defaults::recheck_delay, [this] { list_leftovers(); });
}

void kubelet::on_pods_found(const pods_found& m) {
  // Asked for in an earlier life of this actor, when the pods of this one are not known yet.
  if (!synced_ && !ending_) return;
  for (const auto& uid : m.uids) {
    if (pods_.contains(uid)) continue;
    log().info("kubelet: removing the remains of pod {}: the pod does not exist here", uid);
    auto& pod = pods_[uid];
    pod.gone = true;
    pod.worker = worker_for("orphan/" + uid, {}, uid);
    notify_worker(pod);
  }
  leftovers_known_ = ending_;
  answer_if_ended();
}

// -- the node -------------------------------------------------------------------------------------

void kubelet::describe_node(Node& body) const {
  auto& labels = *body.mutable_metadata()->mutable_labels();
  labels["kubernetes.io/hostname"] = as_label(node());
  labels["kubernetes.io/os"] = "linux";
  labels["kubernetes.io/arch"] = "amd64";
  // A label, since control planes refuse annotations that they do not know.
  if (options_.has_service_rules) {
    labels.erase(no_service_rules);
  } else {
    labels[no_service_rules] = "true";
  }
  auto& annotations = *body.mutable_metadata()->mutable_annotations();
  if (!options_.node_key.empty()) annotations[std::string{node_key_annotation}] = options_.node_key;
  auto& status = *body.mutable_status();
  describe_machine(facts_, options_.max_pods, status);
  status.mutable_node_info()->set_kubelet_version(options_.version);
  status.mutable_node_info()->set_container_runtime_version(
      options_.containers->features().version);
  show_images(options_.containers->images(), status);
  if (options_.containers->has_strict_groups())
    status.mutable_features()->set_supplemental_groups_policy(true);
  status.clear_addresses();
  for (const auto& [type, value] :
       {std::pair{"InternalIP", options_.address}, std::pair{"InternalIP", options_.second_address},
        std::pair{"Hostname", node()}}) {
    if (value.empty()) continue;
    auto& entry = *status.add_addresses();
    entry.set_type(type);
    entry.set_address(value);
  }
  auto& conditions = *status.mutable_conditions();
  describe_pressure(status);
  describe_network(status);
  const auto problem = shutting_down_ ? "node is shutting down" : options_.containers->problem();
  set_condition(conditions,
                problem.empty() ? condition_value{"Ready", "True", "KubeletReady",
                                                  "kubelet is posting ready status"}
                                : condition_value{"Ready", "False", "KubeletNotReady", problem},
                wall_now());
}

}  // namespace troupe::actors
