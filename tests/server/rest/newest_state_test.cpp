// Requests that are decided by reading, on a control plane that is behind another one.
#include <catch2/catch.hpp>
#include <mutex>
#include <utility>

#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/rest_fixture.hpp"

namespace troupe::server::testing {

using api::apps::v1::Deployment;
using api::core::v1::ConfigMap;
using api::core::v1::Pod;
using api::core::v1::ServiceAccount;
using persistence::expected;
using persistence::revision;
using persistence::transaction;

namespace {

// A store that shows what another control plane has written only after a barrier.
class late_store final : public persistence::store {
 public:
  explicit late_store(std::unique_ptr<persistence::store> inner) : inner_{std::move(inner)} {}

  void write_elsewhere(transaction written) {
    const std::lock_guard lock{mutex_};
    late_ = std::move(written);
  }

  void barrier(persistence::barrier_completion done) override {
    std::optional<transaction> written;
    {
      const std::lock_guard lock{mutex_};
      written = std::exchange(late_, std::nullopt);
    }
    if (written) inner_->submit(std::move(*written), [](const persistence::outcome&) {});
    inner_->barrier(std::move(done));
  }
  bool is_shared() const override { return true; }

  void submit(transaction request, persistence::completion done) override {
    inner_->submit(std::move(request), std::move(done));
  }
  persistence::snapshot read() const override { return inner_->read(); }
  expected<persistence::snapshot> read_at(revision at) const override {
    return inner_->read_at(at);
  }
  expected<persistence::snapshot> rebuild(revision at) override { return inner_->rebuild(at); }
  void pin(const persistence::snapshot& state) override { inner_->pin(state); }
  expected<std::vector<persistence::change>> changes(revision after,
                                                     std::size_t limit) const override {
    return inner_->changes(after, limit);
  }
  void observe(persistence::batch_observer observer, persistence::state_index index) override {
    inner_->observe(std::move(observer), std::move(index));
  }
  expected<void> compact(revision up_to) override { return inner_->compact(up_to); }
  persistence::store_stats stats() const override { return inner_->stats(); }
  std::string cluster_id() const override { return inner_->cluster_id(); }

 private:
  const std::unique_ptr<persistence::store> inner_;
  std::mutex mutex_;
  std::optional<transaction> late_;
};

struct late_plane {
  late_store* store = nullptr;
  rest_test api{{.wrap = [this](std::unique_ptr<persistence::store> inner) {
    auto made = std::make_unique<late_store>(std::move(inner));
    store = made.get();
    return made;
  }}};

  template <class T>
  void write_elsewhere(T content, const std::string& name) {
    content.mutable_metadata()->set_name(name);
    content.mutable_metadata()->set_namespace_("default");
    auto key = api::kind_of<T>().key("default", name);
    transaction written;
    written.preconditions.push_back({key, 0});
    written.mutations.push_back(
        {std::move(key), &api::kind_of<T>(), std::make_unique<T>(std::move(content))});
    store->write_elsewhere(std::move(written));
  }
};

}  // namespace

TEST_CASE(
    "the scale, the log and the streams of an object that another control plane made are found") {
  late_plane late;
  late.write_elsewhere(Deployment{}, "web");
  CHECK(late.api.get("/apis/apps/v1/namespaces/default/deployments/web/scale").status == 200);
  // Refused for other reasons than its absence.
  for (const std::string part : {"log", "exec?command=a", "attach", "portforward"}) {
    INFO(part);
    const auto name = part.substr(0, 3);
    Pod pod;
    pod.mutable_spec()->add_containers()->set_name("main");
    late.write_elsewhere(pod, name);
    CHECK(late.api.get("/api/v1/namespaces/default/pods/" + name + "/" + part).status == 400);
  }
}

TEST_CASE("a token is refused in a review only after what other control planes have written") {
  late_plane late;
  late.write_elsewhere(ServiceAccount{}, "new");
  const auto reviewed =
      late.api.post("/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":"x"}})");
  CHECK(reviewed.status == 201);
  CHECK(late.store->read().find(api::kind_of<ServiceAccount>().key("default", "new")));
}

TEST_CASE("a deletion of all objects deletes those that another control plane has made") {
  late_plane late;
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  late.write_elsewhere(ConfigMap{}, "new");
  const auto deleted = late.api.remove(maps);
  CHECK(deleted.status == 200);
  CHECK(deleted.at("items.0.metadata.name") == "new");
  CHECK(late.api.get(maps).size("items") == 0);
}

}  // namespace troupe::server::testing
