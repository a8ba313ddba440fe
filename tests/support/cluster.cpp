#include "support/cluster.hpp"

#include <stdexcept>
#include <utility>

#include "actors/core/store_error.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/codec/codec.hpp"
#include "api/equality.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/meta_object.pb.h"

namespace troupe::test {

using api::core::v1::Namespace;
using api::core::v1::ServiceAccount;

namespace {

struct poke {};

// Advances the pending work of a remote store by a step with each of its messages.
class store_steps : public runtime::actor {
 public:
  struct flow {};

  store_steps(remote_store* store, double lag) : store_{store}, lag_{lag} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&store_steps::on_flow);
    return table;
  }
  void started() override { tell(self(), flow{}); }

 private:
  void on_flow(const flow&) {
    if (std::uniform_real_distribution{}(random()) >= lag_) store_->step();
    if (store_->busy()) tell(self(), flow{});
  }

  remote_store* store_;
  const double lag_;
};

}  // namespace

cluster::cluster(std::uint64_t seed, cluster_options options) : random_{seed} {
  simulation_ = std::make_unique<runtime::simulation>(seed);
  store_ = open_store(options, seed);
  options.plane.reading_thread = false;
  const bool controllers = options.plane.controllers;
  plane_ = std::make_unique<actors::control_plane>(simulation_->system(), *store_,
                                                   std::move(options.plane));
  if (controllers) {
    run_until([&] { return count<ServiceAccount>() == 4; });
    return;
  }
  // The namespace in which clients work has no other creator.
  Namespace ns;
  ns.mutable_metadata()->set_name("default");
  create(ns);
}

cluster::~cluster() {
  catch_up();
}

std::unique_ptr<persistence::store> cluster::open_store(const cluster_options& options,
                                                        std::uint64_t seed) {
  const auto wall_clock = [this] {
    return std::chrono::time_point_cast<std::chrono::system_clock::duration>(
        simulation_->system().time().wall_now());
  };
  if (options.far) {
    const auto mover = std::make_shared<runtime::actor_ref>();
    auto elsewhere = std::make_unique<remote_store>(
        remote_store_options{.seed = seed,
                             .foreign = options.foreign,
                             .history_revisions = options.history_revisions,
                             .wall_clock = wall_clock,
                             .threaded = false,
                             .on_work = [mover] { mover->tell(store_steps::flow{}); }});
    far_ = elsewhere.get();
    *mover = simulation_->system().spawn({.kind = "store-steps", .name = "store-steps"},
                                         runtime::make<store_steps>(far_, options.lag));
    return elsewhere;
  }
  persistence::store_options in_memory;
  in_memory.history_revisions = options.history_revisions;
  in_memory.threaded = false;
  in_memory.wall_clock = wall_clock;
  in_memory.cluster_id = "00000000-0000-4000-8000-000000000000";
  auto opened = persistence::store::open(std::move(in_memory));
  require(opened.has_value(), "the store opens");
  return std::move(*opened);
}

void cluster::catch_up() const {
  if (far_ != nullptr) far_->run();
}

// -- as a client ----------------------------------------------------------------------------------

api::expected<api::object_ptr> cluster::try_create(std::unique_ptr<api::body> content) {
  const auto& kind = api::kind_of_type(*content->GetDescriptor());
  auto& meta = api::meta_of(*content);
  if (kind.namespaced() && meta.namespace_().empty()) meta.set_namespace_("default");
  catch_up();
  auto transaction = actors::create_transaction(store_->read(), kind, std::move(content),
                                                actors::checks::all, now(), random_);
  if (!transaction) return api::fail(std::move(transaction.error()));
  const auto& key = transaction->mutations.front().key;
  const auto name = key.substr(key.rfind('/') + 1);
  if (store_->read().find(key)) return api::fail(api::already_exists(kind, name));
  return commit(std::move(*transaction), kind, name);
}

api::object_ptr cluster::create_yaml(std::string_view text) {
  auto decoded = api::decode(text, api::media::yaml, nullptr);
  require(decoded.has_value(), decoded ? "" : decoded.error().message);
  return must(try_create(std::move(decoded->content)));
}

api::expected<api::object_ptr> cluster::replace(const api::object_ptr& old,
                                                std::unique_ptr<api::body> content) {
  const auto* spec = content->GetDescriptor()->FindFieldByName("spec");
  if (old->kind().options().has_generation() && spec != nullptr &&
      !api::same_field(old->content(), *content, *spec)) {
    auto& changed = api::meta_of(*content);
    changed.set_generation(changed.generation() + 1);
  }
  return commit(actors::succeed(*old, std::move(content)), old->kind(), old->meta().name());
}

void cluster::remove_key(const std::string& key, std::int64_t grace_seconds,
                         const std::string& propagation) {
  catch_up();
  auto plan = actors::plan_remove(
      store_->read(), {.key = key, .grace_seconds = grace_seconds, .propagation = propagation},
      now());
  require(plan.has_value(), plan ? "" : plan.error().message);
  if (plan->transaction.mutations.empty()) return;
  must(commit(std::move(plan->transaction), plan->object->kind(), plan->object->meta().name()));
}

api::expected<api::object_ptr> cluster::commit(persistence::transaction transaction,
                                               const api::kind_info& kind,
                                               const std::string& name) {
  api::expected<api::object_ptr> result = api::fail(api::internal("the store did not answer"));
  transaction.cause.author = "test";
  if (far_ != nullptr) far_->calm(true);
  plane_->commit(std::move(transaction), ++last_request_, [&](persistence::outcome committed) {
    if (committed) {
      result = committed->objects.front();
    } else {
      result = api::fail(actors::to_api_error(committed.error(), kind, name));
    }
  });
  catch_up();
  if (far_ != nullptr) far_->calm(false);
  return result;
}

std::vector<api::object_ptr> cluster::list_prefix(const std::string& prefix) const {
  catch_up();
  std::vector<api::object_ptr> found;
  store_->read().scan(prefix, {}, [&](std::string_view, const api::object_ptr& object) {
    found.push_back(object);
    return true;
  });
  return found;
}

// -- time and faults ------------------------------------------------------------------------------

bool cluster::run_until(const std::function<bool()>& done, runtime::duration limit) {
  return simulation_->run_until(done, limit);
}

runtime::wall_time cluster::now() const {
  return simulation_->system().time().wall_now();
}

runtime::actor_ref cluster::actor(const std::string& kind, const std::string& name) const {
  return simulation_->system().actors().find(kind, name);
}

void cluster::crash(const std::string& kind, const std::string& name) {
  const auto victim = actor(kind, name);
  require(static_cast<bool>(victim), "there is an actor " + kind + "/" + name);
  const auto restarts = [&] { return simulation_->system().actors().find(victim.id())->restarts; };
  const auto before = restarts();
  simulation_->faults({.crash = 1, .may_crash = [&](const auto& its_kind, const auto& its_name) {
                         return its_kind == kind && its_name == name;
                       }});
  victim.tell(poke{});
  for (int steps = 0; restarts() == before && simulation_->step(); ++steps) {
    require(steps < 1'000'000, "the actor crashes");
  }
  simulation_->faults({});
}

// -- requirements ---------------------------------------------------------------------------------

api::object_ptr cluster::must(api::expected<api::object_ptr> result) {
  require(result.has_value(), result ? "" : result.error().message);
  return *result;
}

void cluster::require(bool holds, const std::string& condition) {
  if (!holds) throw std::logic_error{"cluster: " + condition};
}

}  // namespace troupe::test
