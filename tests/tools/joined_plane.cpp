#include "tools/joined_plane.hpp"

#include <condition_variable>
#include <future>
#include <mutex>

#include "actors/access/node_identity.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::tools::test {

using api::core::v1::Node;
using namespace std::chrono_literals;
namespace x509 = server::x509;

bool eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock{mutex};
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    never.wait_for(lock, 10ms);
  }
  return true;
}

joined_plane::joined_plane() {
  const auto now = std::chrono::system_clock::now();
  valid_ = {now - 1min, now + 24h};
  authority_ = must(x509::make_authority("troupe", valid_));
  server_ = must(x509::issue(authority_, {"server", {}, {"127.0.0.1", "localhost"}, valid_}));
  auto opened = persistence::store::open({});
  REQUIRE(opened);
  store_ = std::move(*opened);
  system_ = std::make_unique<runtime::actor_system>();
  control_ =
      std::make_unique<actors::control_plane>(*system_, *store_, actors::control_plane_options{});
  serve(0);
}

void joined_plane::serve(std::uint16_t port) {
  link_ = std::make_unique<link_service>(
      *control_,
      link_service_options{
          .listen = {"127.0.0.1", port},
          .credentials =
              [this] {
                return runtime::link::credentials{server_.certificate, server_.private_key,
                                                  authority_.certificate};
              },
          .listening = [this](const runtime::link::address& address) { port_ = address.port; }});
}

joined_credentials joined_plane::admit(const std::string& node) {
  const auto made =
      must(x509::issue(authority_, {"system:node:" + node, {"system:nodes"}, {}, valid_}));
  auto object = std::make_unique<Node>();
  object->mutable_metadata()->set_name(node);
  (*object->mutable_metadata()->mutable_annotations())[std::string{actors::node_key_annotation}] =
      must(x509::key_hash(made.certificate));
  create(std::move(object));
  REQUIRE(eventually([this] { return port_ != 0; }));
  return {.node_name = node,
          .cluster_id = store_->cluster_id(),
          .api_address = "127.0.0.1:6443",
          .link_address = "127.0.0.1:" + std::to_string(port_),
          .certificate = made.certificate,
          .private_key = made.private_key,
          .authority = authority_.certificate};
}

void joined_plane::create(std::unique_ptr<api::body> content) {
  const auto& kind = api::kind_of_type(*content->GetDescriptor());
  auto transaction =
      actors::create_transaction(store_->read(), kind, std::move(content), actors::checks::all,
                                 system_->time().wall_now(), random_);
  INFO((transaction ? "" : transaction.error().message));
  REQUIRE(transaction);
  commit(std::move(*transaction));
}

void joined_plane::remove(const std::string& key) {
  auto plan = actors::plan_remove(store_->read(), {.key = key}, system_->time().wall_now());
  REQUIRE(plan);
  commit(std::move(plan->transaction));
}

void joined_plane::commit(persistence::transaction transaction) {
  std::promise<bool> done;
  store_->submit(std::move(transaction), [&](auto result) { done.set_value(result.has_value()); });
  REQUIRE(done.get_future().get());
}

}  // namespace troupe::tools::test
