#include "tools/node/cluster_store.hpp"

#include <spdlog/spdlog.h>

#include <future>
#include <random>
#include <utility>

#include "persistence/engine/rocks_engine.hpp"
#include "persistence/etcd/etcd.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

persistence::store_options options_of(const config::node_config& config) {
  persistence::store_options options;
  options.directory = (config.data_dir / "store").string();
  options.history_revisions = static_cast<persistence::revision>(config.store.history_revisions);
  options.history_time =
      std::chrono::duration_cast<std::chrono::seconds>(config.store.history_time);
  options.log_limit_bytes = static_cast<std::uint64_t>(config.store.history_bytes.bytes);
  return options;
}

std::string random_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// A barrier that fails is asked for again: etcd may be starting as well, or be electing.
tl::expected<void, std::string> wait_for_state(persistence::store& store,
                                               const std::string& members) {
  const auto until = std::chrono::steady_clock::now() + defaults::store_wait;
  for (;;) {
    const auto passed = std::make_shared<std::promise<persistence::expected<std::uint64_t>>>();
    auto result = passed->get_future();
    store.barrier([passed](persistence::expected<persistence::revision> reached) {
      passed->set_value(std::move(reached));
    });
    if (result.wait_until(until) != std::future_status::ready)
      return tl::make_unexpected(fmt::format("{} cannot be followed", members));
    const auto reached = result.get();
    if (reached) return {};
    if (std::chrono::steady_clock::now() >= until)
      return tl::make_unexpected(fmt::format("{}: {}", members, reached.error().message));
    spdlog::info("store: waiting for {}: {}", members, reached.error().message);
    std::this_thread::sleep_for(defaults::store_retry);
  }
}

}  // namespace

tl::expected<cluster_store, std::string> open_cluster_store(const config::node_config& config) {
  auto options = options_of(config);
  if (config.store.store == config::store_kind::embedded) {
    auto opened = persistence::store::open(std::move(options));
    if (!opened) return tl::make_unexpected(opened.error().message);
    return cluster_store{std::move(*opened)};
  }
  const auto& from = config.etcd;
  auto log = persistence::open_etcd({.endpoints = from.endpoints,
                                     .ca_file = from.ca.string(),
                                     .certificate_file = from.cert.string(),
                                     .key_file = from.key.string()});
  if (!log) return tl::make_unexpected(log.error().message);
  auto engine = persistence::rocks_engine_in(options.directory);
  auto opened = persistence::replicated_store::open(std::move(options), std::move(engine),
                                                    std::move(*log), random_id());
  if (!opened) return tl::make_unexpected(opened.error().message);
  const auto members = fmt::format("etcd at {}", fmt::join(from.endpoints, ", "));
  if (auto ready = wait_for_state(**opened, members); !ready)
    return tl::make_unexpected(ready.error());
  spdlog::info("store: follows {}, at revision {}", members, (*opened)->read().at());
  auto* const shared = opened->get();
  return cluster_store{std::move(*opened), shared};
}

term_keeper::term_keeper(persistence::replicated_store& store, actors::control_plane& plane,
                         std::string name, std::chrono::seconds lease)
    : store_{store}, plane_{plane}, thread_{[this] { run(); }} {
  store_.campaign(fmt::format("{} {}", name, random_id()), lease,
                  [wanted = wanted_](persistence::revision fence) {
                    const std::lock_guard lock{wanted->mutex};
                    wanted->fence = fence;
                    wanted->changed.notify_all();
                  });
}

term_keeper::~term_keeper() {
  store_.resign();
  {
    const std::lock_guard lock{wanted_->mutex};
    wanted_->over = true;
    wanted_->changed.notify_all();
  }
  thread_.join();
}

void term_keeper::run() {
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
