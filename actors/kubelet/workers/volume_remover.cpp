#include "actors/kubelet/workers/volume_remover.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/core/finalizers.hpp"
#include "actors/core/log.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/volumes/claim_rules.hpp"
#include "actors/volumes/defaults.hpp"
#include "actors/write/commands.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

namespace {

using volumes::PersistentVolume;

bool is_leaving(const api::object& object, const std::string& node) {
  const auto& volume = object.as<PersistentVolume>();
  return volumes::node_of(volume) == node &&
         has_pending_finalizer(object.meta(), volumes::defaults::local_path_finalizer) &&
         volume.status().phase() != "Bound" &&
         volume.spec().persistent_volume_reclaim_policy() == "Delete";
}

}  // namespace

volume_remover::volume_remover(core_actors to, std::string node, std::filesystem::path root_dir,
                               std::shared_ptr<job_queue> jobs)
    : informer{to.watcher},
      to_{std::move(to)},
      node_{std::move(node)},
      root_dir_{std::move(root_dir)},
      jobs_{std::move(jobs)} {}

const runtime::behavior& volume_remover::make_behavior() const {
  static const auto table =
      runtime::handlers(&volume_remover::on_watch_events, &volume_remover::on_watch_ended,
                        &volume_remover::on_removed);
  return table;
}

void volume_remover::started() {
  follow(api::kind_of<PersistentVolume>().prefix(),
         [this](const watch_events& m) { on_volumes(m); });
  again_ = every(volumes::defaults::removal_retry, [this] {
    for (const auto& [key, volume] : leaving_)
      remove(key);
  });
}

std::string volume_remover::describe() const {
  return fmt::format("leaving: {}\nremoved: {}\n", leaving_.size(), removed_);
}

void volume_remover::on_volumes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto key = api::key_of(*event.object);
    if (event.type == event_type::deleted || !is_leaving(*event.object, node_)) {
      leaving_.erase(key);
    } else {
      leaving_[key] = event.object;
      remove(key);
    }
  }
}

void volume_remover::remove(const std::string& key) {
  if (!under_way_.insert(key).second) return;
  const auto& name = leaving_.at(key)->meta().name();
  if (!jobs_->post([root = root_dir_, key, name, to = self()] {
        to.tell(removed{key, remove_local_volume(root, name)});
      }))
    under_way_.erase(key);
}

void volume_remover::on_removed(const removed& m) {
  const auto found = leaving_.find(m.key);
  if (m.result == volume_removal::done && found != leaving_.end()) return release(found->second);
  under_way_.erase(m.key);
  if (m.result == volume_removal::failed)
    log().warn("cannot remove the directory of {}: will retry", m.key);
}

void volume_remover::release(const api::object_ptr& volume) {
  auto transaction = std::make_shared<persistence::transaction>(
      succeed(*volume, without_finalizer(*volume, volumes::defaults::local_path_finalizer)));
  transaction->cause = {.trigger = volume->revision(), .author = "kubelet/" + node_};
  request<commit_done>(to_.writer, commit{std::move(transaction)}, kubelet_defaults::write_timeout,
                       [this, key = api::key_of(*volume)](const auto& answered) {
                         under_way_.erase(key);
                         removed_ += answered && (*answered)->result ? 1 : 0;
                       });
}

}  // namespace troupe::actors
