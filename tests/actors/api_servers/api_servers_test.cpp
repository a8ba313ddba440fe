// The actor that keeps the records of control planes, on a store that other control planes write.
#include "actors/api_servers/api_servers.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>

#include "actors/api_servers/defaults.hpp"
#include "actors/core_fixture.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "support/seeds.hpp"

using namespace troupe;
using namespace troupe::actors;
using namespace std::chrono_literals;
using api::coordination::v1::Lease;
using api::core::v1::Endpoints;
using api::core::v1::Namespace;

namespace {

constexpr std::uint64_t seeds = 100;
constexpr int steps = 1'500;
constexpr auto step_time = 100ms;
// Three renewals of one's own come back in no less.
constexpr auto least_silence =
    (api_server_defaults::missed_renewals - 1) * api_server_defaults::renewal;

api_server_record record_of(const std::string& name) {
  return {name, "10.0.0.1:6443", "10.0.0.1:6444", "sha256:" + name};
}

const std::string other_key =
    api::kind_of<Lease>().key(api_server_namespace, api_server_lease("other"));
const std::string list_key = api::kind_of<Endpoints>().key(api_service_namespace, api_service_name);

// One control plane, "own", and the writes of another one, "other", whose record a third one may
// remove first.
class planes {
 public:
  explicit planes(std::uint64_t seed) : random_{seed}, core_{seed, {.far = true}} {
    core_.saw = [this](const auto& changes) {
      for (const auto& each : changes)
        see(each);
    };
    for (const auto* name : {api_server_namespace, api_service_namespace}) {
      auto made = std::make_unique<Namespace>();
      made->mutable_metadata()->set_name(name);
      persistence::transaction change;
      const auto& kind = api::kind_of<Namespace>();
      change.mutations.push_back({kind.key({}, name), &kind, std::move(made)});
      REQUIRE(core_.far->elsewhere(std::move(change)));
    }
    core_.far->run();
    auto& system = core_.simulation.system();
    system.spawn(
        {.kind = "api-servers", .name = "api-servers"},
        runtime::make<api_servers>(core_.store.get(), &writes_,
                                   api_servers_options{[] { return record_of("own"); }}, end_));
  }
  ~planes() { end_->ended = true; }

  void run() {
    for (int i = 0; i < steps; ++i) {
      core_.simulation.advance(step_time);
      if (random_() % 400 == 0) lives_ = !lives_;
      if (lives_ && random_() % 50 == 0) put(renew_api_server(record_of("other"), {}));
      if (!lives_ && random_() % 150 == 0) remove_elsewhere();
      for (auto left = random_() % 4; left > 0; --left)
        core_.far->step();
    }
  }

  int removals() const { return removals_; }

 private:
  // A write of another control plane, from the cluster's newest state.
  void put(const write_proposal& propose) {
    core_.far->run();
    auto made = propose(core_.store->read());
    if (made->settled) return;
    persistence::transaction change;
    const auto& object = made->before ? made->before->meta() : api::meta_of(*made->after);
    change.mutations.push_back(
        {made->kind->key(object.namespace_(), object.name()), made->kind, std::move(made->after)});
    REQUIRE(core_.far->elsewhere(std::move(change)));
  }

  // Only what is listed: so the list is written too.
  void remove_elsewhere() {
    core_.far->run();
    if (!was_listed_) return;
    put(remove_api_server("other"));
    const api_server_records left{record_of("own")};
    for (const auto& each : publish_api_servers(core_.store->read(), [&](const auto&) {
           return api_listing{endpoints_of(left), write_api_servers(left)};
         }))
      put(each);
  }

  void see(const persistence::change& each) {
    const auto now = core_.simulation.system().time().now();
    const bool removed = each.type == persistence::change_type::removed;
    if (each.key == other_key) {
      is_there_ = !removed;
      // The own removals have this author unless the store has lost it; nobody else removes early.
      if (removed && each.cause.author == "system:apiserver") {
        CHECK(now - renewed_ >= least_silence);
        ++removals_;
      }
      renewed_ = now;
    }
    if (each.key != list_key || removed) return;
    const auto& shown = each.object->meta().annotations();
    const auto listed = read_api_servers(shown.at(std::string{api_servers_annotation}));
    const bool lists_other = std::any_of(listed.begin(), listed.end(),
                                         [](const auto& one) { return one.name == "other"; });
    // A list without it was written after its record had been removed: no later one has it again.
    if (lists_other && !was_listed_) CHECK(is_there_);
    was_listed_ = lists_other;
  }

  std::mt19937_64 random_;
  test::core_fixture core_;
  write_service writes_{*core_.store, core_.simulation.system().time(), {.threads = false}};
  const std::shared_ptr<api_servers_end> end_ = std::make_shared<api_servers_end>();
  bool lives_ = true, is_there_ = false, was_listed_ = false;
  runtime::time_point renewed_ = {};
  int removals_ = 0;
};

}  // namespace

TEST_CASE("a control plane is removed only while its record is the one that was judged",
          "[api_servers][seeds]") {
  int removals = 0;
  test::for_each_seed(seeds, [&](std::uint64_t seed) {
    planes of{seed};
    of.run();
    removals += of.removals();
  });
  CHECK(removals > 0);
}
