// Control planes that start under a name that another one uses.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "actors/api_servers/api_server_writes.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "persistence/store/store.hpp"
#include "tools/node/shared_plane.hpp"

using namespace troupe;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

std::unique_ptr<persistence::store> open_store() {
  auto opened = persistence::store::open({});
  REQUIRE(opened);
  return std::move(*opened);
}

// Writes the record of control plane "one" once more.
void renew(persistence::store& store, const std::string& key_hash) {
  const actors::api_server_record record{"one", "10.0.0.1:6443", "10.0.0.1:6444", key_hash};
  auto made = actors::renew_api_server(record, {})(store.read());
  const auto& meta = api::meta_of(*made->after);
  persistence::transaction change;
  auto key = made->kind->key(meta.namespace_(), meta.name());
  change.mutations.push_back({std::move(key), made->kind, std::move(made->after)});
  store.submit(std::move(change), [](const auto&) {});
}

// Returns when all that was submitted is visible.
void settle(persistence::store& store) {
  // Shared: the store may still be inside set_value when the waiter returns.
  const auto passed = std::make_shared<std::promise<void>>();
  store.barrier([passed](const auto&) { passed->set_value(); });
  passed->get_future().get();
}

}  // namespace

TEST_CASE("a control plane is refused the name of one that runs with another key") {
  const auto store = open_store();
  renew(*store, "sha256:other");
  settle(*store);
  std::atomic<bool> refused{false};
  std::thread other{[&] {
    while (!refused) {
      renew(*store, "sha256:other");
      settle(*store);
    }
  }};
  const auto result = tools::check_name_is_unused(*store, "one", "sha256:own", 60s);
  refused = true;
  other.join();
  REQUIRE_FALSE(result);
  CHECK_THAT(result.error(), Contains("another control plane one runs at 10.0.0.1:6443") &&
                                 Contains("--node-name"));
}

TEST_CASE("a name is free for its own control plane, and when the other one is gone") {
  const auto store = open_store();
  CHECK(tools::check_name_is_unused(*store, "one", "sha256:own", 0s));
  renew(*store, "sha256:own");
  settle(*store);
  CHECK(tools::check_name_is_unused(*store, "one", "sha256:own", 60s));
  renew(*store, "sha256:gone");
  settle(*store);
  CHECK(tools::check_name_is_unused(*store, "one", "sha256:own", 0s));
  CHECK(tools::check_name_is_unused(*store, "two", "sha256:own", 60s));
}
