// A control plane and a joined machine with a real link between them, in one process.
#include "tools/join/joined_node.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <random>

#include "actors/commands.hpp"
#include "actors/condition.hpp"
#include "actors/creation.hpp"
#include "actors/link/node_links.hpp"
#include "actors/node_identity.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "config/node_config.hpp"
#include "server/x509.hpp"
#include "support/scratch_folder.hpp"
#include "tools/console_client.hpp"
#include "tools/link_service.hpp"

namespace troupe::tools {

using api::core::v1::Node;
using api::core::v1::Pod;
using namespace std::chrono_literals;
namespace x509 = server::x509;

namespace {

bool eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + 15s;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock{mutex};
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    never.wait_for(lock, 10ms);
  }
  return true;
}

template <class T>
T must(tl::expected<T, std::string> result) {
  INFO((result ? "" : result.error()));
  REQUIRE(result);
  return std::move(*result);
}

// A store in memory with its control plane; joined nodes call at a port of its own.
class plane {
 public:
  plane() {
    const auto now = std::chrono::system_clock::now();
    valid_ = {now - 1min, now + 24h};
    authority_ = must(x509::make_authority("troupe", valid_));
    server_ = must(x509::issue(authority_, {"server", {}, {"127.0.0.1", "localhost"}, valid_}));
    auto opened = persistence::store::open({});
    REQUIRE(opened);
    truth_ = std::move(*opened);
    company_ = std::make_unique<runtime::system>();
    control_ = std::make_unique<actors::control_plane>(*company_, *truth_,
                                                       actors::control_plane_options{});
    serve(0);
  }

  void serve(std::uint16_t port) {
    link_ = std::make_unique<link_service>(
        *control_,
        link_service_options{
            .listen = {"127.0.0.1", port},
            .credentials =
                [this] {
                  return runtime::link::credentials{server_.certificate, server_.private_key,
                                                    authority_.certificate};
                },
            .listening = [this](const runtime::link::address& where) { port_ = where.port; }});
  }
  void hang_up() { link_.reset(); }
  std::uint16_t port() const { return port_; }
  const actors::link_table& links() const { return control_->links().table(); }

  // As the certificate endpoint does.
  joined_credentials admit(const std::string& node) {
    const auto made =
        must(x509::issue(authority_, {"system:node:" + node, {"system:nodes"}, {}, valid_}));
    auto object = std::make_unique<Node>();
    object->mutable_metadata()->set_name(node);
    (*object->mutable_metadata()->mutable_annotations())[std::string{actors::node_key_annotation}] =
        must(x509::key_hash(made.certificate));
    create(std::move(object));
    REQUIRE(eventually([this] { return port_ != 0; }));
    return {.node_name = node,
            .cluster_id = truth_->cluster_id(),
            .api_address = "127.0.0.1:6443",
            .link_address = "127.0.0.1:" + std::to_string(port_),
            .certificate = made.certificate,
            .private_key = made.private_key,
            .authority = authority_.certificate};
  }

  void create(std::unique_ptr<api::body> content) {
    const auto& kind = api::kind_of_type(*content->GetDescriptor());
    auto what =
        actors::create_transaction(truth_->read(), kind, std::move(content),
                                   actors::creator::client, company_->time().wall_now(), random_);
    INFO((what ? "" : what.error().message));
    REQUIRE(what);
    commit(std::move(*what));
  }
  void remove(const std::string& key) {
    auto plan = actors::plan_remove(truth_->read(), {.key = key}, company_->time().wall_now());
    REQUIRE(plan);
    commit(std::move(plan->what));
  }
  template <class T>
  api::object_ptr find(const std::string& space, const std::string& name) const {
    return truth_->read().find(api::kind_of<T>().key(space, name));
  }

 private:
  void commit(persistence::transaction what) {
    std::promise<bool> done;
    truth_->submit(std::move(what), [&](auto result) { done.set_value(result.has_value()); });
    REQUIRE(done.get_future().get());
  }

  x509::validity valid_;
  x509::identity authority_, server_;
  std::mt19937_64 random_{1};
  std::atomic<std::uint16_t> port_{0};
  std::unique_ptr<persistence::store> truth_;
  std::unique_ptr<runtime::system> company_;
  std::unique_ptr<actors::control_plane> control_;
  std::unique_ptr<link_service> link_;
};

// The parts of a joined machine with simulated containers.
struct machine {
  explicit machine(joined_credentials given) {
    config.data_dir = folder.path();
    config.kubelet.root_dir = folder.path() / "kubelet";
    config.kubelet.runtime = config::pod_runtime::simulated;
    parts = compose_joined(config, {.credentials = [given] { return given; },
                                    .linked = [this] { ++linked; },
                                    .unlinked = [this](const std::string&) { ++unlinked; },
                                    .expelled =
                                        [this](const std::string& why) {
                                          std::lock_guard lock{mutex};
                                          expelled = why;
                                        }});
    const auto address = parts->start();
    INFO((address ? "" : address.error()));
    REQUIRE(address);
  }

  troupe::test::scratch_folder folder;
  config::node_config config;
  std::atomic<int> linked{0}, unlinked{0};
  std::mutex mutex;
  std::string expelled;
  std::unique_ptr<node_parts> parts;  // ends first: it calls what stands above
};

template <class T>
bool is_ready(const api::object_ptr& object) {
  if (!object) return false;
  const auto* ready =
      actors::find_condition(object->template as<T>().status().conditions(), "Ready");
  return ready != nullptr && ready->status() == "True";
}

std::unique_ptr<Pod> small_pod(const std::string& name) {
  auto pod = std::make_unique<Pod>();
  pod->mutable_metadata()->set_name(name);
  pod->mutable_metadata()->set_namespace_("default");
  auto& container = *pod->mutable_spec()->add_containers();
  container.set_name("c");
  container.set_image("i");
  return pod;
}

}  // namespace

TEST_CASE("nobody listens for nodes before the first of them is known") {
  plane control;
  REQUIRE(eventually([&] { return control.find<Node>({}, "none") == nullptr; }));
  CHECK(control.port() == 0);
  control.admit("n0");
  CHECK(control.port() != 0);
}

TEST_CASE("a machine that has joined runs pods over its link, and again after a loss of it") {
  plane control;
  REQUIRE(eventually([&] {
    return control.find<api::core::v1::Namespace>({}, "default") != nullptr &&
           control.find<api::core::v1::ServiceAccount>("default", "default") != nullptr;
  }));
  machine joined{control.admit("n0")};
  REQUIRE(eventually([&] { return is_ready<Node>(control.find<Node>({}, "n0")); }));
  CHECK(joined.linked == 1);
  control.create(small_pod("one"));
  CHECK(eventually([&] { return is_ready<Pod>(control.find<Pod>("default", "one")); }));

  const auto port = control.port();
  control.hang_up();
  REQUIRE(eventually([&] { return joined.unlinked > 0; }));
  CHECK_FALSE(control.links().connected("n0"));
  const auto own = console_client::at(joined.config.data_dir);
  CHECK_THAT(own->ask({"actors", {{"kind", "gateway"}}}).value(),
             Catch::Matchers::Contains("gateway/n0"));
  CHECK_THAT(own->ask({"store", {}}).error(), Catch::Matchers::Contains("ask the control plane"));
  control.create(small_pod("two"));
  control.serve(port);
  CHECK(eventually([&] { return is_ready<Pod>(control.find<Pod>("default", "two")); }));
  CHECK(joined.linked == 2);
}

TEST_CASE("a machine whose Node is removed hears why, and is refused from then on") {
  plane control;
  machine joined{control.admit("n0")};
  REQUIRE(eventually([&] { return is_ready<Node>(control.find<Node>({}, "n0")); }));
  control.remove(api::kind_of<Node>().key({}, "n0"));
  const auto expelled = [&] {
    std::lock_guard lock{joined.mutex};
    return joined.expelled;
  };
  REQUIRE(eventually([&] { return !expelled().empty(); }));
  CHECK_THAT(expelled(), Catch::Matchers::Contains("node n0 was removed from this cluster"));
  CHECK(eventually([&] { return !control.links().connected("n0"); }));
  CHECK_FALSE(control.find<Node>({}, "n0"));
}

}  // namespace troupe::tools
