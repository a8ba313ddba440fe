#include "actors/core_fixture.hpp"

#include <spdlog/fmt/fmt.h>

#include <stdexcept>
#include <utility>

#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"
#include "persistence/store/local_store.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;

std::unique_ptr<persistence::store> core_fixture::open_elsewhere(
    std::uint64_t seed, const core_fixture_options& options) {
  auto opened = std::make_unique<remote_store>(
      remote_store_options{.seed = seed,
                           .foreign = 0.2,
                           .history_revisions = options.history_revisions,
                           .threaded = false});
  far = opened.get();
  return opened;
}

std::unique_ptr<persistence::store> core_fixture::open_local(const core_fixture_options& options) {
  persistence::store_options in_memory;
  in_memory.history_revisions = options.history_revisions;
  in_memory.history_time = std::chrono::seconds{0};
  in_memory.threaded = false;
  in_memory.cluster_id = "00000000-0000-4000-8000-000000000000";
  return std::move(
      persistence::local_store::open(std::move(in_memory), persistence::memory_engine_on(disk))
          .value());
}

core_fixture::core_fixture(std::uint64_t seed, core_fixture_options options) : simulation{seed} {
  store = options.far ? open_elsewhere(seed, options) : open_local(options);
  auto& system = simulation.system();
  watcher = system.spawn({.kind = "watcher", .name = "watcher"},
                         runtime::make<actors::watcher>(store.get(), options.watcher));
  writer = system.spawn({.kind = "writer", .name = "writer"},
                        runtime::make<actors::writer>(
                            std::make_shared<actors::write_service>(
                                *store, system.time(), actors::write_options{.threads = false}),
                            options.writer));
  store->observe([this](persistence::revision after, persistence::change_batch batch) {
    if (saw) saw(*batch);
    if (!lose_batches) watcher.tell(actors::committed{after, std::move(batch)});
  });
  simulation.settle();
}

core_fixture::~core_fixture() {
  store->observe([](auto, const auto&) {});
}

std::string core_fixture::key(std::string_view ns, std::string_view name) {
  return api::kind_of<ConfigMap>().key(ns, name);
}

std::unique_ptr<api::body> core_fixture::config(std::string_view ns, std::string_view name,
                                                bool shown, int value) {
  auto map = std::make_unique<ConfigMap>();
  map->mutable_metadata()->set_namespace_(std::string{ns});
  map->mutable_metadata()->set_name(std::string{name});
  if (shown) (*map->mutable_metadata()->mutable_labels())["shown"] = "yes";
  (*map->mutable_data())["value"] = std::to_string(value);
  return map;
}

persistence::revision core_fixture::write(contents all) {
  persistence::revision at = 0;
  send(std::move(all), [&](const persistence::outcome& result) { at = result.value().at; });
  if (far != nullptr) far->run();
  return at;
}

void core_fixture::send(contents all, persistence::completion done) {
  persistence::transaction transaction;
  for (auto& [key, content] : all) {
    transaction.mutations.push_back({key, &api::kind_of<ConfigMap>(), std::move(content)});
  }
  transaction.cause.request = request;
  store->submit(std::move(transaction), std::move(done));
}

persistence::revision core_fixture::put(std::string_view ns, std::string_view name, bool shown,
                                        int value) {
  std::vector<std::pair<std::string, std::unique_ptr<api::body>>> all;
  all.emplace_back(key(ns, name), config(ns, name, shown, value));
  return write(std::move(all));
}

persistence::revision core_fixture::remove(std::string_view ns, std::string_view name) {
  std::vector<std::pair<std::string, std::unique_ptr<api::body>>> all;
  all.emplace_back(key(ns, name), nullptr);
  return write(std::move(all));
}

bool shown(const api::object& object) {
  return object.meta().labels().count("shown") != 0;
}

// -- record ---------------------------------------------------------------------------------------

std::vector<actors::watch_event> record::events() const {
  std::vector<actors::watch_event> all;
  for (const auto& m : messages)
    all.insert(all.end(), m.events.begin(), m.events.end());
  return all;
}

std::vector<std::string> record::lines() const {
  static const char* const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
  std::vector<std::string> all;
  for (const auto& event : events()) {
    const auto name = event.object ? event.object->meta().name() : "";
    const auto at = event.object ? event.object->revision() : event.at;
    all.push_back(fmt::format("{} {}@{}", names[static_cast<int>(event.type)], name, at));
  }
  return all;
}

// -- probe ----------------------------------------------------------------------------------------

const runtime::behavior& probe::make_behavior() const {
  static const auto table =
      runtime::handlers(&probe::on_events, &probe::on_ended, &probe::on_subscribe, &probe::on_more,
                        &probe::on_bookmark, &probe::on_unsubscribe);
  return table;
}

subscriber::subscriber(core_fixture& fixture, std::string name) : fixture_{fixture} {
  ref = fixture.simulation.system().spawn({.kind = "probe", .name = std::move(name)},
                                          runtime::make<probe>(fixture.watcher, heard));
  fixture.simulation.settle();
}

}  // namespace troupe::test
