#include "tools/node/cluster_store.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <future>
#include <utility>

#include "actors/defaults.hpp"
#include "persistence/engine/replica_mark.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/etcd/members.hpp"
#include "persistence/etcd/old_state.hpp"
#include "persistence/replica/adoption.hpp"
#include "persistence/replica/based_log.hpp"
#include "persistence/replica/cluster_record.hpp"
#include "persistence/replica/leased_log.hpp"
#include "persistence/replica/upstream_log.hpp"
#include "tools/defaults.hpp"
#include "tools/node/shared_settings.hpp"

namespace troupe::tools {

namespace {

std::chrono::seconds seconds_of(config::duration given) {
  return std::chrono::duration_cast<std::chrono::seconds>(given);
}

persistence::candidacy candidacy_of(const config::node_config& config) {
  return {.node = config.kubelet.node_name,
          .lease = seconds_of(config.etcd.leader_lease),
          .compaction_interval = seconds_of(config.etcd.compaction_interval)};
}

persistence::store_options options_of(const config::node_config& config) {
  persistence::store_options options;
  options.directory = (config.data_dir / "store").string();
  options.history_revisions = static_cast<persistence::revision>(config.store.history_revisions);
  options.history_time = seconds_of(config.store.history_time);
  options.log_limit_bytes = static_cast<std::uint64_t>(config.store.history_bytes.bytes);
  return options;
}

persistence::upstream_target target_of(const config::node_config& config) {
  return {api::first_storage_minor + static_cast<int>(config.etcd.storage_target)};
}

// Runs before the first write to an etcd that no Troupe control plane has served.
persistence::expected<void> adopt(persistence::blocking_log& log,
                                  const std::vector<std::string>& service_ranges) {
  const auto served = persistence::find_cluster(log);
  if (!served) return persistence::fail(served.error());
  if (*served) return {};
  const auto found = persistence::examine(log, service_ranges);
  if (!found) return persistence::fail(found.error());
  std::string others;
  for (const auto& [place, keys] : found->foreign)
    others += fmt::format(" {} {}", place, keys);
  spdlog::info("store: {} holds {} objects; {} keys of other kinds are left alone:{}", log.name(),
               found->objects, found->foreign_keys, others.empty() ? " none" : others);
  if (!found->narrower_ranges.empty())
    spdlog::warn(
        "store: Services in {} have addresses of {}, and new ones get those of {}: "
        "kube-apiserver cannot serve addresses outside of its own range after a return",
        log.name(), fmt::join(found->narrower_ranges, ", "), fmt::join(service_ranges, ", "));
  return {};
}

persistence::etcd_options etcd_of(const config::etcd_config& from) {
  return {.endpoints = from.endpoints,
          .ca_file = from.ca.string(),
          .certificate_file = from.cert.string(),
          .key_file = from.key.string(),
          .transaction_limit = from.transaction_timeout,
          .read_limit = from.read_timeout};
}

// Members that do not answer soon are left out: they may be down.
void warn_of_old_releases(persistence::etcd_options options) {
  options.read_limit =
      std::min<std::chrono::milliseconds>(options.read_limit, defaults::etcd_version_limit);
  const auto members = persistence::open_etcd_members(options);
  if (!members) return;
  std::string old;
  for (const auto& each : options.endpoints)
    if (const auto found = (*members)->status(each);
        found && persistence::may_read_old_state(found->version))
      old += fmt::format("{}{} ({})", old.empty() ? "" : ", ", each, found->version);
  if (!old.empty())
    spdlog::warn(
        "store: etcd at {} may answer a read with an old state after a pause of a member; "
        "{} do not",
        old, persistence::etcd_releases_without_old_state);
}

// `is_lost`: the copy in the directory is of a state that etcd does not have any more.
persistence::expected<cluster_store> open_shared_store(const config::node_config& config,
                                                       bool is_lost) {
  auto options = options_of(config);
  const auto& from = config.etcd;
  auto log = persistence::open_etcd(etcd_of(from));
  if (!log) return persistence::fail(log.error());
  persistence::blocking_log asked{**log, fmt::format("etcd at {}", fmt::join(from.endpoints, ", ")),
                                  defaults::store_wait};
  if (const auto good = adopt(asked, config.network.service_cidrs); !good)
    return persistence::fail(good.error());
  const auto cluster =
      persistence::join_cluster(asked, {persistence::marked_log(options.directory), is_lost});
  if (!cluster) return persistence::fail(cluster.error());
  warn_of_old_releases(etcd_of(from));
  warn_of_other_settings(asked, config);
  options.cluster_id = cluster->cluster;
  *log = std::make_unique<persistence::leased_log>(
      std::move(*log), persistence::events_with_leases(actors::defaults::event_time_to_live));
  if (cluster->upstream_layout)
    *log = std::make_unique<persistence::upstream_log>(std::move(*log), target_of(config));
  auto engine = persistence::rocks_engine_in(options.directory);
  auto opened = persistence::replicated_store::open(
      std::move(options), std::move(engine),
      std::make_unique<persistence::based_log>(std::move(*log), cluster->base), cluster->identity(),
      {}, {.answer = from.answer_timeout});
  if (!opened) return persistence::fail(opened.error());
  const auto ready = asked.wait_for<persistence::revision>(
      [&](auto take) { (*opened)->barrier(std::move(take)); });
  if (!ready) return persistence::fail(ready.error());
  spdlog::info("store: follows {}, at revision {}", asked.name(), (*opened)->read().at());
  auto* const shared = opened->get();
  return cluster_store{std::move(*opened), shared};
}

}  // namespace

tl::expected<cluster_store, std::string> open_cluster_store(const config::node_config& config) {
  if (config.store.store == config::store_kind::embedded) {
    auto opened = persistence::store::open(options_of(config));
    if (!opened) return tl::make_unexpected(opened.error().message);
    return cluster_store{std::move(*opened)};
  }
  auto opened = open_shared_store(config, false);
  for (int i = 0; i < defaults::restored_attempts && !opened; ++i) {
    if (opened.error().code != persistence::errc::restored) break;
    opened = open_shared_store(config, true);
  }
  if (!opened) return tl::make_unexpected(opened.error().message);
  return std::move(*opened);
}

term_manager::term_manager(persistence::replicated_store& store, actors::control_plane& plane,
                           const config::node_config& config)
    : store_{store}, plane_{plane}, thread_{[this] { run(); }} {
  store_.campaign(candidacy_of(config), [wanted = wanted_](persistence::revision fence) {
    const std::lock_guard lock{wanted->mutex};
    wanted->fence = fence;
    wanted->changed.notify_all();
  });
}

term_manager::~term_manager() {
  const auto resigned = std::make_shared<std::promise<void>>();
  store_.resign([resigned] { resigned->set_value(); });
  resigned->get_future().wait_for(defaults::resign_wait);
  {
    const std::lock_guard lock{wanted_->mutex};
    wanted_->over = true;
    wanted_->changed.notify_all();
  }
  thread_.join();
}

void term_manager::run() {
  persistence::revision now = 0;
  std::unique_lock lock{wanted_->mutex};
  for (;;) {
    wanted_->changed.wait(lock, [&] { return wanted_->over || wanted_->fence != now; });
    const auto next = wanted_->over ? 0 : wanted_->fence;
    lock.unlock();
    if (now != 0) plane_.stop_leading();
    if (next != 0) plane_.start_leading(next);
    now = next;
    lock.lock();
    if (wanted_->over) return;
  }
}

}  // namespace troupe::tools
