// A control plane and a joined machine with a real link between them, in one process.
#include "tools/join/joined_node.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <mutex>

#include "actors/core/condition.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "config/node_config.hpp"
#include "support/scratch_folder.hpp"
#include "tools/console/console_client.hpp"
#include "tools/joined_plane.hpp"

namespace troupe::tools {

using api::core::v1::Node;
using api::core::v1::Pod;
using test::eventually;
using test::joined_plane;

namespace {

// The parts of a joined machine with simulated containers.
struct machine {
  explicit machine(joined_credentials given) {
    config.data_dir = folder.path();
    config.kubelet.root_dir = folder.path() / "kubelet";
    config.kubelet.runtime = config::pod_runtime::simulated;
    parts = compose_joined(config, {.credentials = [given] { return given; },
                                    .linked = [this] { ++linked; },
                                    .unlinked = [this](const std::string&) { ++unlinked; },
                                    .node_removed =
                                        [this](const std::string& reason) {
                                          std::lock_guard lock{mutex};
                                          node_removed = reason;
                                        }});
    const auto address = parts->start();
    INFO((address ? "" : address.error()));
    REQUIRE(address);
  }

  troupe::test::scratch_folder folder;
  config::node_config config;
  std::atomic<int> linked{0}, unlinked{0};
  std::mutex mutex;
  std::string node_removed;
  std::unique_ptr<node_parts> parts;  // ends first: it calls the members above
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

TEST_CASE("the listener for nodes starts with the first known node") {
  joined_plane control;
  REQUIRE(eventually([&] { return control.find<Node>({}, "none") == nullptr; }));
  CHECK(control.port() == 0);
  control.admit("n0");
  CHECK(control.port() != 0);
}

TEST_CASE("a machine that has joined runs pods over its link, and again after a loss of it") {
  joined_plane control;
  REQUIRE(eventually([&] {
    return control.find<api::core::v1::Namespace>({}, "default") != nullptr &&
           control.find<api::core::v1::ServiceAccount>("default", "default") != nullptr;
  }));
  machine joined{control.admit("n0")};
  REQUIRE(eventually([&] { return is_ready<Node>(control.find<Node>({}, "n0")); }));
  REQUIRE(eventually([&] { return joined.linked > 0; }));
  control.create(small_pod("one"));
  CHECK(eventually([&] { return is_ready<Pod>(control.find<Pod>("default", "one")); }));

  const auto view = std::make_shared<std::promise<server::console_answer>>();
  linked_consoles{control.control()}.ask(
      "n0", {"actors?kind=gateway"}, std::chrono::seconds{60}, 1u << 20,
      [view](server::console_answer got) { view->set_value(std::move(got)); });
  const auto shown = view->get_future().get();
  CHECK(shown.status == 200);
  CHECK_THAT(shown.body, Catch::Matchers::Contains("gateway/n0"));

  const auto port = control.port();
  const int links = joined.linked, losses = joined.unlinked;
  control.hang_up();
  REQUIRE(eventually([&] { return joined.unlinked > losses; }));
  CHECK(eventually([&] { return !control.links().connected("n0"); }));
  const auto own = console_client::at(joined.config.data_dir);
  CHECK_THAT(own->ask({"actors", {{"kind", "gateway"}}}).value(),
             Catch::Matchers::Contains("gateway/n0"));
  CHECK_THAT(own->ask({"store", {}}).error(), Catch::Matchers::Contains("ask the control plane"));
  control.create(small_pod("two"));
  control.serve(port);
  CHECK(eventually([&] { return is_ready<Pod>(control.find<Pod>("default", "two")); }));
  CHECK(eventually([&] { return joined.linked > links; }));
}

TEST_CASE("a busy port for nodes is used as soon as it is free") {
  joined_plane control;
  machine joined{control.admit("n0")};
  REQUIRE(eventually([&] { return control.links().connected("n0"); }));
  const auto port = control.port();
  control.hang_up();
  REQUIRE(eventually([&] { return !control.links().connected("n0"); }));
  const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  REQUIRE(::bind(other, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(::listen(other, 1) == 0);
  control.serve(port);
  // It occupies the port until the node has tried to call, in vain.
  const int before = joined.unlinked;
  CHECK(eventually([&] { return joined.unlinked > before; }));
  CHECK_FALSE(control.links().connected("n0"));
  ::close(other);
  CHECK(eventually([&] { return control.links().connected("n0"); }));
}

TEST_CASE("a machine whose Node is removed learns why, and is refused from then on") {
  joined_plane control;
  machine joined{control.admit("n0")};
  REQUIRE(eventually([&] { return is_ready<Node>(control.find<Node>({}, "n0")); }));
  control.remove(api::kind_of<Node>().key({}, "n0"));
  const auto node_removed = [&] {
    std::lock_guard lock{joined.mutex};
    return joined.node_removed;
  };
  REQUIRE(eventually([&] { return !node_removed().empty(); }));
  CHECK_THAT(node_removed(), Catch::Matchers::Contains("node n0 was removed from this cluster"));
  CHECK(eventually([&] { return !control.links().connected("n0"); }));
  CHECK_FALSE(control.find<Node>({}, "n0"));
}

}  // namespace troupe::tools
