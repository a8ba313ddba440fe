// What a pod's worker knows of the objects that its pod refers to, and what it makes of them: the
// pod's volumes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/mount_points.hpp"
#include "actors/kubelet/pod_worker.hpp"
#include "actors/kubelet/volume_content.hpp"

namespace troupe::actors {

using api::core::v1::Container;
using api::core::v1::Pod;

namespace {

// What is made of objects is not for a container to change, whatever its mount says: other
// containers read it too (kubernetes: Attributes.ReadOnly of such volumes).
bool sealed(const Pod& pod, const std::string& volume) {
  const auto& all = pod.spec().volumes();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) {
    return each.name() == volume && made_of_files(each.volume_source());
  });
}

bool of_the_host(const Pod& pod, const std::string& volume) {
  const auto& all = pod.spec().volumes();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) {
    return each.name() == volume && each.volume_source().has_host_path();
  });
}

}  // namespace

void pod_worker::ask_for_references() {
  if (!needed_.empty()) tell(around_->references, need_references{needed_});
}

bool pod_worker::references_known() const {
  return std::all_of(needed_.begin(), needed_.end(),
                     [&](const auto& key) { return references_.contains(key); });
}

// A copy: for other threads too.
object_reader pod_worker::known_references() const {
  return [known = references_](const std::string& key) -> api::object_ptr {
    const auto found = known.find(key);
    return found == known.end() ? nullptr : found->second;
  };
}

// The pod as its containers are told of it: with its addresses, which it has from the beginning,
// though its status may not say so yet, and with what the machine has.
Pod pod_worker::placed_pod() const {
  Pod placed{pod()};
  placed.mutable_status()->set_host_ip(around_->place.host_ip);
  placed.mutable_status()->set_pod_ip(around_->place.pod_ip);
  limit_to_machine(placed, around_->machine);
  return placed;
}

// -- volumes --------------------------------------------------------------------------------------

// At first, and again when something that stands in them has changed.
void pod_worker::look_at_volumes() {
  if (pod().spec().volumes_size() == 0) {
    volumes_ready_ = true;
    volumes_stale_ = false;
  }
  if (!volumes_stale_ || volumes_working_ || !references_known() || now() < volumes_retry_at_ ||
      finished(pod().status()))
    return;
  volumes_stale_ = false;
  volumes_working_ = around_->helpers.containers->run(
      pod_dir(), [pod = placed_pod(), dir = pod_dir(), read = known_references(),
                  may_mount = around_->may_mount, hidden = around_->hidden, to = self()] {
        to.tell(volumes_news{set_up_volumes(pod, dir, read, may_mount, hidden)});
      });
  if (!volumes_working_) {
    volumes_stale_ = true;
    volumes_retry_at_ = now() + kubelet_defaults::volume_retry_first;
  }
}

void pod_worker::on_volumes_news(const volumes_news& m) {
  volumes_working_ = false;
  for (const auto& [name, place] : m.result.places)
    places_[name] = place;
  for (const auto& problem : m.result.problems)
    record_pod_event(true, "FailedMount", problem);
  if (m.result.problems.empty()) {
    const bool first = !std::exchange(volumes_ready_, true);
    volumes_backoff_ = {};
    if (first && !around_->may_mount) {
      std::string where;
      for (const auto& [name, place] : places_)
        where += fmt::format("{}{}={}", where.empty() ? "" : ", ", volume_variable(name), place);
      record_pod_event(true, "NotSupported",
                       "volumes are not mounted, as this node may not make mount namespaces; "
                       "containers find them by their environment: " +
                           where);
    }
  } else {
    // What stood before goes on standing.
    volumes_stale_ = true;
    volumes_backoff_ =
        std::clamp<runtime::duration>(volumes_backoff_ * 2, kubelet_defaults::volume_retry_first,
                                      kubelet_defaults::volume_retry_longest);
    volumes_retry_at_ = now() + volumes_backoff_;
  }
  sync();
}

void pod_worker::measure_volumes() {
  if (!volumes_ready_ || measuring_ || terminating() || verdict_ || finished(pod().status()))
    return;
  measuring_ = around_->helpers.containers->run([object = object_, dir = pod_dir(), to = self()] {
    to.tell(volumes_measured{over_limit(object->as<Pod>(), dir)});
  });
}

void pod_worker::on_volumes_measured(const volumes_measured& m) {
  measuring_ = false;
  if (!m.verdict || terminating() || verdict_ || finished(pod().status())) return;
  verdict_ = m.verdict;
  record_pod_event(true, verdict_->reason, verdict_->message);
  sync();
}

void pod_worker::place_volumes(const Container& container, container_spec& spec) const {
  std::set<std::string> places;  // a volume may be mounted several times
  for (const auto& wanted : container.volume_mounts()) {
    const auto found = places_.find(wanted.name());
    if (found == places_.end()) continue;
    const bool host = of_the_host(pod(), wanted.name());
    const bool read_only = wanted.read_only() || sealed(pod(), wanted.name());
    if (!around_->may_mount) {
      spec.environment.push_back(volume_variable(wanted.name()) + "=" + found->second);
      // Where it stands is covered in the container (container_root.hpp): all but this is.
      const bool covered = around_->rights.confined_by != confinement::none && !host;
      if (covered && places.insert(found->second).second)
        spec.mounts.push_back({found->second, {}, found->second, read_only, true});
      continue;
    }
    const auto sub_path = wanted.sub_path_expr().empty()
                              ? wanted.sub_path()
                              : expand_variables(wanted.sub_path_expr(), spec.environment);
    auto target = (std::filesystem::path{"/"} / wanted.mount_path()).lexically_normal().string();
    if (target.size() > 1 && target.ends_with('/')) target.pop_back();
    spec.mounts.push_back({found->second, sub_path, std::move(target), read_only, !host});
  }
  order_mounts(spec.mounts);
}

}  // namespace troupe::actors
