#include "actors/api_servers/api_servers.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "actors/api_servers/defaults.hpp"
#include "actors/core/log.hpp"

namespace troupe::actors {

namespace {

constexpr const char* actor_name = "api-servers";

// A dead control plane is listed until its record has been removed: so all write the same.
listing_rule list_without(const std::string& name) {
  return [name](const persistence::snapshot& state) {
    auto all = read_api_servers(state);
    std::erase_if(all, [&](const auto& each) { return each.name == name; });
    return api_listing{endpoints_of(all), write_api_servers(all)};
  };
}

}  // namespace

api_servers::api_servers(const persistence::store* store, write_service* writes,
                         api_servers_options options, std::shared_ptr<api_servers_end> end)
    : store_{store}, writes_{writes}, options_{std::move(options)}, end_{std::move(end)} {}

const runtime::behavior& api_servers::make_behavior() const {
  static const auto table = runtime::handlers();
  return table;
}

void api_servers::started() {
  renew();
  check_timer_ = every(api_server_defaults::check_period, [this] { check(); });
  renewal_ = every(api_server_defaults::renewal, [this] { renew(); });
}

std::string api_servers::describe() const {
  std::string names;
  for (const auto& each : found_.live)
    names += (names.empty() ? "" : ", ") + each.name;
  return fmt::format("own: {}\nlive: [{}]\n", own_record_.name, names);
}

void api_servers::renew() {
  const std::lock_guard lock{end_->mutex};
  if (!end_->ended) renew_record();
}

void api_servers::renew_record() {
  own_record_ = options_.own();
  write(renew_api_server(own_record_, wall_now()));
}

// A failed write is repeated by the next look or renewal.
void api_servers::write(write_proposal propose) {
  ++*under_way_;
  writes_->carry_out(
      api_server_write(std::move(propose), [under_way = under_way_](const write_outcome& outcome) {
        --*under_way;
        if (!outcome.result)
          log().warn("api-servers: a write failed, retrying: {}", outcome.result.error().message);
      }));
}

void api_servers::check() {
  const std::lock_guard lock{end_->mutex};
  if (end_->ended || *under_way_ != 0) return;
  if (options_.own() != own_record_) renew_record();
  found_ = watch_.check(store_->read(), own_record_.name);
  for (const auto& [name, judged] : found_.dead) {
    log().warn("api-servers: control plane {} has stopped renewing its record", name);
    write(remove_api_server(name, judged));
  }
  publish();
}

void api_servers::publish() {
  const bool listed = std::any_of(found_.live.begin(), found_.live.end(),
                                  [&](const auto& each) { return each.name == own_record_.name; });
  // Publishes only after the own record was read back.
  if (!listed) return;
  for (auto& each : publish_api_servers(store_->read(), list_without("")))
    write(std::move(each));
}

// -- the registration -----------------------------------------------------------------------------

api_server_registration::api_server_registration(runtime::actor_system& system,
                                                 const persistence::store& store,
                                                 write_service& writes, api_servers_options options)
    : system_{system},
      store_{store},
      writes_{writes},
      name_{options.own().name},
      actor_{system.spawn({.kind = actor_name, .name = actor_name},
                          runtime::make<api_servers>(&store, &writes, std::move(options), end_))} {}

api_server_registration::~api_server_registration() {
  {
    const std::lock_guard lock{end_->mutex};
    end_->ended = true;
  }
  system_.stop(actor_);
  struct progress {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t left = 0;
  };
  auto writes = publish_api_servers(store_.read(), list_without(name_));
  writes.insert(writes.begin(), remove_api_server(name_));
  const auto done = std::make_shared<progress>();
  done->left = writes.size();
  for (auto& each : writes)
    writes_.carry_out(api_server_write(std::move(each), [done](const write_outcome&) {
      const std::lock_guard lock{done->mutex};
      --done->left;
      done->changed.notify_all();
    }));
  std::unique_lock lock{done->mutex};
  done->changed.wait_for(lock, api_server_defaults::withdrawal_wait,
                         [&] { return done->left == 0; });
}

}  // namespace troupe::actors
