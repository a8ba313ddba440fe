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

api_server_record record_of(const std::string& name) {
  return {name, "10.0.0.1:6443", "10.0.0.1:6444", "sha256:" + name};
}

// The actor of control plane "own", and the writes of others: "other" renews its record after
// random times, sometimes too late; "third" comes and goes; one of them removes the record of
// "other" too.
class planes {
 public:
  explicit planes(std::uint64_t seed) : random_{seed}, core_{seed, {.far = true}} {
    core_.far->calm(true);
    core_.saw = [this](const auto& changes) {
      for (const auto& each : changes)
        see(each);
    };
    for (const auto* name : {api_server_namespace, api_service_namespace}) {
      auto made = std::make_unique<Namespace>();
      made->mutable_metadata()->set_name(name);
      const auto& kind = api::kind_of<Namespace>();
      put({.kind = &kind, .after = std::move(made)});
    }
    core_.far->run();
    core_.simulation.system().spawn(
        {.kind = "api-servers", .name = "api-servers"},
        runtime::make<api_servers>(core_.store.get(), &writes_,
                                   api_servers_options{[] { return record_of("own"); }}, end_));
  }
  ~planes() { end_->ended = true; }

  void run() {
    for (int i = 0; i < steps; ++i) {
      core_.simulation.advance(step_time);
      if (random_() % 100 == 0) write(renew_api_server(record_of("other"), {}));
      if (random_() % 400 == 0) remove_other();
      if (random_() % 2 == 0) core_.far->step();
    }
  }

  int removals() const { return removals_; }

 private:
  // Another control plane writes at once, whatever waits here.
  void put(proposal of) {
    persistence::transaction change;
    const auto& object = of.before ? of.before->meta() : api::meta_of(*of.after);
    change.mutations.push_back(
        {of.kind->key(object.namespace_(), object.name()), of.kind, std::move(of.after)});
    REQUIRE(core_.far->elsewhere(std::move(change)));
  }
  void write(const write_proposal& propose) {
    auto made = propose(core_.store->read());
    if (!made->settled) put(std::move(*made));
  }

  // "third" changes before, so that "own" writes the list too.
  void remove_other() {
    third_ = !third_;
    write(third_ ? renew_api_server(record_of("third"), {}) : remove_api_server("third"));
    core_.far->run();
    if (!was_listed_) return;
    write(remove_api_server("other"));
    const auto without_other = [](const persistence::snapshot& state) {
      auto left = read_api_servers(state);
      std::erase_if(left, [](const auto& each) { return each.name == "other"; });
      return api_listing{endpoints_of(left), write_api_servers(left)};
    };
    for (const auto& each : publish_api_servers(core_.store->read(), without_other))
      write(each);
  }

  void see(const persistence::change& each) {
    const auto now = core_.simulation.system().time().now();
    const bool removed = each.type == persistence::change_type::removed;
    if (each.key == other_key_) {
      is_there_ = !removed;
      // Those of "own", unless the store has lost the author.
      if (removed && !each.cause.author.empty()) {
        CHECK(now - renewed_ >= api_server_defaults::renewal);
        ++removals_;
      }
      renewed_ = now;
    }
    if (each.key != list_key_) return;
    const auto& shown = each.object->meta().annotations();
    const auto listed = read_api_servers(shown.at(std::string{api_servers_annotation}));
    const bool is_listed = std::any_of(listed.begin(), listed.end(),
                                       [](const auto& one) { return one.name == "other"; });
    if (is_listed && !was_listed_) CHECK(is_there_);
    was_listed_ = is_listed;
  }

  const std::string other_key_ =
      api::kind_of<Lease>().key(api_server_namespace, api_server_lease("other"));
  const std::string list_key_ =
      api::kind_of<Endpoints>().key(api_service_namespace, api_service_name);
  std::mt19937_64 random_;
  test::core_fixture core_;
  write_service writes_{*core_.store, core_.simulation.system().time(), {.threads = false}};
  const std::shared_ptr<api_servers_end> end_ = std::make_shared<api_servers_end>();
  bool third_ = false, is_there_ = false, was_listed_ = false;
  runtime::time_point renewed_ = {};
  int removals_ = 0;
};

}  // namespace

TEST_CASE("a control plane that renews its record again is not removed, and a removed one stays so",
          "[api_servers][seeds]") {
  int removals = 0;
  test::for_each_seed(seeds, [&](std::uint64_t seed) {
    planes of{seed};
    of.run();
    removals += of.removals();
  });
  CHECK(removals > 0);
}
