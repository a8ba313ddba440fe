#include "actors/kubelet/simulated_minion.hpp"

#include <fmt/format.h>

#include "actors/condition.hpp"
#include "actors/defaults.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/simulated_pod.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "api/uid.hpp"

namespace troupe::actors {

namespace {

using api::coordination::v1::Lease;
using api::core::v1::Node;
using api::core::v1::Pod;

constexpr const char* lease_namespace = "kube-node-lease";

void set_quantity(google::protobuf::Map<std::string, api::resource::Quantity>& all,
                  const std::string& name, std::string value) {
  all[name].set_string(std::move(value));
}

void describe_machine(const simulated_node& node, const std::string& address, Node& body,
                      runtime::wall_time now) {
  auto& status = *body.mutable_status();
  for (auto* resources : {status.mutable_capacity(), status.mutable_allocatable()}) {
    set_quantity(*resources, "cpu", std::to_string(node.cpus));
    set_quantity(*resources, "memory", std::to_string(node.memory_bytes >> 10) + "Ki");
    set_quantity(*resources, "pods", std::to_string(node.pods));
    set_quantity(*resources, "ephemeral-storage", "1Ti");
  }
  auto& info = *status.mutable_node_info();
  info.set_kubelet_version(node.version);
  info.set_container_runtime_version("simulated://1");
  info.set_operating_system("linux");
  info.set_architecture("amd64");
  info.set_os_image("Troupe (simulated)");
  info.set_kernel_version("simulated");
  status.clear_addresses();
  for (const auto& [type, value] :
       {std::pair{"InternalIP", address}, std::pair{"Hostname", node.name}}) {
    auto& entry = *status.add_addresses();
    entry.set_type(type);
    entry.set_address(value);
  }
  set_condition(*status.mutable_conditions(),
                {"Ready", "True", "KubeletReady", "simulated node is ready"}, now);
}

}  // namespace

simulated_minion::simulated_minion(simulated_node node, doors to)
    : follower{to.watcher}, node_{std::move(node)}, to_{std::move(to)} {}

const runtime::behavior& simulated_minion::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&simulated_minion::on_watch_events, &simulated_minion::on_watch_ended);
  return table;
}

void simulated_minion::started() {
  follow(api::kind_of<Node>().key({}, node_.name), [this](const watch_events& m) { on_node(m); });
  follow(api::kind_of<Lease>().key(lease_namespace, node_.name),
         [this](const watch_events& m) { on_lease(m); });
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.on_node = node_.name});
  // Spread over the period, so that a thousand nodes do not renew in one instant.
  const auto period = std::chrono::nanoseconds{kubelet_defaults::lease_renewal}.count();
  const auto offset = static_cast<std::int64_t>(random()() % static_cast<std::uint64_t>(period));
  first_renewal_ = after(std::chrono::nanoseconds{offset}, [this] {
    renew_lease();
    renewal_ = every(kubelet_defaults::lease_renewal, [this] { renew_lease(); });
  });
}

std::string simulated_minion::describe() const {
  return fmt::format("node: {}\nstartedPods: {}\nendedPods: {}\n", node_.name, started_pods_,
                     ended_pods_);
}

void simulated_minion::on_pods(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::deleted || event.type == event_type::bookmark) continue;
    const auto& pod = event.object->as<Pod>();
    if (pod.metadata().has_deletion_timestamp()) {
      ++ended_pods_;
      remove(event.object);
    } else if (pod.status().phase().empty() || pod.status().phase() == "Pending") {
      ++started_pods_;
      const simulated_place place{address(0), address(1 + static_cast<int>(++next_address_ % 254))};
      write(event.object->kind(), event.object, as_running(pod, place, wall_now()));
    }
  }
}

void simulated_minion::on_node(const watch_events& m) {
  for (const auto& event : m.events)
    node_object_ = event.type == event_type::deleted ? nullptr : event.object;
  if (!m.synced) return;
  const auto& kind = api::kind_of<Node>();
  if (!node_object_) {
    auto node = std::make_unique<Node>();
    auto& meta = *node->mutable_metadata();
    meta.set_name(node_.name);
    meta.set_uid(api::generated_uid(random()));
    meta.mutable_creation_timestamp()->set_seconds(seconds_of(wall_now()));
    auto& labels = *meta.mutable_labels();
    labels["kubernetes.io/hostname"] = node_.name;
    labels["kubernetes.io/os"] = "linux";
    labels["kubernetes.io/arch"] = "amd64";
    labels["type"] = "simulated";
    describe_machine(node_, address(0), *node, wall_now());
    return write(kind, nullptr, std::move(node));
  }
  // Marked NotReady or made by somebody else: it is alive and says so.
  auto node = node_object_->copy_as<Node>();
  const auto* ready = find_condition(node->status().conditions(), "Ready");
  if (ready != nullptr && ready->status() == "True") return;
  describe_machine(node_, address(0), *node, wall_now());
  write(kind, node_object_, std::move(node));
}

void simulated_minion::on_lease(const watch_events& m) {
  for (const auto& event : m.events)
    lease_ = event.type == event_type::deleted ? nullptr : event.object;
  if (!m.synced) return;
  const bool first = !std::exchange(lease_known_, true);
  if (first) renew_lease();
}

void simulated_minion::renew_lease() {
  if (!lease_known_) return;
  auto lease = lease_ ? lease_->copy_as<Lease>() : std::make_unique<Lease>();
  auto& meta = *lease->mutable_metadata();
  if (!lease_) {
    meta.set_name(node_.name);
    meta.set_namespace_(lease_namespace);
    meta.set_uid(api::generated_uid(random()));
    meta.mutable_creation_timestamp()->set_seconds(seconds_of(wall_now()));
  }
  auto& spec = *lease->mutable_spec();
  spec.set_holder_identity(node_.name);
  spec.set_lease_duration_seconds(
      static_cast<std::int32_t>(std::chrono::seconds{kubelet_defaults::lease_duration}.count()));
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(wall_now().time_since_epoch()).count();
  spec.mutable_renew_time()->set_seconds(micros / 1'000'000);
  spec.mutable_renew_time()->set_nanos(static_cast<std::int32_t>(micros % 1'000'000 * 1'000));
  write(api::kind_of<Lease>(), lease_, std::move(lease));
}

void simulated_minion::write(const api::kind_info& kind, const api::object_ptr& before,
                             std::unique_ptr<api::body> content) {
  const auto& meta = api::meta_of(*content);
  auto key = kind.key(kind.namespaced() ? meta.namespace_() : std::string{}, meta.name());
  auto what = std::make_shared<persistence::transaction>();
  what->preconditions.push_back({key, before ? before->revision() : 0});
  what->mutations.push_back({std::move(key), &kind, std::move(content)});
  what->why = {.request = why().request,
               .trigger = before ? before->revision() : 0,
               .author = "kubelet/" + node_.name};
  tell(to_.writer, commit{std::move(what)});
}

void simulated_minion::remove(const api::object_ptr& object) {
  const auto& meta = object->meta();
  auto key = object->kind().key(meta.namespace_(), meta.name());
  auto what = std::make_shared<persistence::transaction>();
  what->preconditions.push_back({key, object->revision()});
  what->mutations.push_back({std::move(key), &object->kind(), nullptr});
  what->why = {
      .request = why().request, .trigger = object->revision(), .author = "kubelet/" + node_.name};
  tell(to_.writer, commit{std::move(what)});
}

// 10.128.0.0/9 is divided among the nodes: 254 addresses for the pods of each.
std::string simulated_minion::address(int last) const {
  return fmt::format("10.{}.{}.{}", 128 + (node_.number >> 8) % 128, node_.number & 0xff,
                     last == 0 ? 255 : last);
}

}  // namespace troupe::actors
