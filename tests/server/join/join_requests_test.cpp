// Requests of joining and leaving machines to a control plane that are malformed, late or
// concurrent.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/join_fixture.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/join/bootstrap_tokens.hpp"
#include "server/join/defaults.hpp"
#include "server/join/join_authorizer.hpp"

namespace troupe::server::testing {

using api::core::v1::Node;
using api::core::v1::Pod;
using Catch::Matchers::Contains;

namespace {

std::string node_key(const std::string& node) {
  return api::kind_of<Node>().key({}, node);
}

test::http_client client_of(const join_test& cluster, const credentials& credentials) {
  test::wire_options to;
  to.port = static_cast<std::uint16_t>(cluster.port());
  to.authority = cluster.authority();
  to.certificate = credentials.certificate;
  to.private_key = credentials.private_key;
  return test::http_client{to};
}

std::string said(const test::http_answer& answer, const std::string& name) {
  INFO(answer.body);
  REQUIRE(answer.status < 300);
  return member(read_flat_json(answer.body).value(), name);
}

void add_pod(join_test& cluster, const std::string& name, const std::string& node) {
  auto pod = std::make_unique<Pod>();
  pod->mutable_metadata()->set_name(name);
  pod->mutable_metadata()->set_namespace_("default");
  pod->mutable_metadata()->set_uid("uid-" + name);
  auto& container = *pod->mutable_spec()->add_containers();
  container.set_name("c");
  container.set_image("i");
  pod->mutable_spec()->set_node_name(node);
  const auto& kind = api::kind_of<Pod>();
  cluster.write(kind, kind.key("default", name), std::move(pod));
}

}  // namespace

TEST_CASE("a body that is too long is refused, whether its length is announced or not") {
  join_test cluster;
  const auto token = cluster.add_token();
  const std::string bearer = "Bearer " + token;
  {
    // Only the head: the server does not wait for the body.
    auto client = client_of(cluster, {});
    client.send_request(
        "POST", std::string{certificates_path}, {},
        {{"Authorization", bearer}, {"Content-Length", "16385"}, {"Expect", "100-continue"}});
    CHECK(client.receive_answer().status == 413);
  }
  const std::string part(join_defaults::body_limit_bytes + 1, ' ');
  auto client = client_of(cluster, {});
  const auto answer =
      client.request("POST", std::string{certificates_path}, "4001\r\n" + part + "\r\n0\r\n\r\n",
                     {{"Authorization", bearer}, {"Transfer-Encoding", "chunked"}});
  CHECK(answer.status == 413);
}

TEST_CASE("a token authenticates as its user, in its own groups and that of all tokens") {
  join_test cluster;
  actors::bootstrap_token token;
  token.id = "aaaaaa";
  token.secret = "0123456789abcdef";
  token.authenticates = true;
  token.extra_groups = {"system:bootstrappers:rack"};
  const auto user = bootstrap_tokens{cluster.store(), {}}.find(cluster.add_token(token));
  REQUIRE(user);
  CHECK(user->name == "system:bootstrap:aaaaaa");
  CHECK(user->groups ==
        std::vector<std::string>{"system:bootstrappers:rack", "system:bootstrappers"});
}

TEST_CASE("no certificate is given before the link listens, and then with where it does") {
  join_test cluster;
  cluster.api().link_address("");
  const auto early =
      cluster.ask_certificate({cluster.add_token(), {}, {}}, "n0", x509::make_key().value());
  CHECK(early.status == 503);
  CHECK(early.header("retry-after") == "1");
  CHECK_FALSE(cluster.store().read().find(node_key("n0")));
  cluster.api().link_address("link.example:7443");
  const auto answer =
      cluster.ask_certificate({cluster.add_token(), {}, {}}, "n0", x509::make_key().value());
  CHECK(said(answer, "linkAddress") == "link.example:7443");
}

TEST_CASE("a link without a host of its own is where the server was called, if that is a name") {
  join_test cluster;
  const auto link_for = [&](const std::string& host) {
    auto client = client_of(cluster, cluster.administrator());
    client.connection().send("GET /troupe/v1/cluster HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return said(client.receive_answer(), "linkAddress");
  };
  CHECK(link_for("node.example:6443") == "node.example:7443");
  CHECK(link_for("192.0.2.1:6443") == "192.0.2.1:7443");
  CHECK(link_for("[2001:db8::1]:6443") == "[2001:db8::1]:7443");
  CHECK(link_for("node.example") == "node.example:7443");
  for (const auto* nonsense : {"a/b:1", "a b", "user@host:1", "\"", "a,b", ":6443"})
    CHECK(link_for(nonsense).empty());
}

TEST_CASE(
    "a machine that asks many times at once becomes one node, and each of its calls is good") {
  join_test cluster;
  const credentials token{cluster.add_token(), {}, {}};
  for (int round = 0; round < 4; ++round) {
    const auto node = "n" + std::to_string(round);
    const auto key = x509::make_key().value();
    std::atomic<int> good{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 8; ++i)
      callers.emplace_back([&] {
        if (cluster.ask_certificate(token, node, key).status == 201) ++good;
      });
    for (auto& each : callers)
      each.join();
    CHECK(good == 8);
    CHECK(cluster.store().read().find(node_key(node)));
  }
}

TEST_CASE("a certificate of short life is dated back by a part of it, a long one by minutes") {
  for (const auto lifetime : {std::chrono::seconds{100}, std::chrono::seconds{36'000}}) {
    join_test cluster{{.lifetime = lifetime}};
    const auto before = std::chrono::system_clock::now();
    const auto node = cluster.join("n0", x509::make_key().value());
    const auto after = std::chrono::system_clock::now();
    const auto valid = x509::read_validity(node.certificate).value();
    const auto early = std::min<std::chrono::seconds>(lifetime / 10, std::chrono::minutes{5});
    const std::chrono::seconds slack{5};
    CHECK(after - valid.from >= early - slack);
    CHECK(before - valid.from <= early + slack);
    CHECK(valid.until - before >= lifetime - slack);
  }
}

TEST_CASE("an administrator that calls a node's own leave path learns how to remove a node") {
  join_test cluster;
  cluster.join("n0", x509::make_key().value());
  const auto refused =
      cluster.ask(cluster.administrator(), "POST", "/troupe/v1/nodes/n0/leave", "{}");
  CHECK(refused.status == 400);
  CHECK_THAT(message_of(refused), Contains("kubectl drain"));
  CHECK(cluster.store().read().find(node_key("n0")));
}

TEST_CASE("a node that leaves evicts its pods, or leaves them behind by force") {
  join_test cluster;
  const auto node = cluster.join("n0", x509::make_key().value());
  add_pod(cluster, "a", "n0");
  add_pod(cluster, "b", "n0");
  const auto leave = [&](const std::string& body) {
    return cluster.ask(node, "POST", "/troupe/v1/nodes/n0/leave", body);
  };
  CHECK(leave("[]").status == 400);
  const auto first = leave("{}");
  CHECK(said(first, "state") == "leaving");
  CHECK(said(first, "left") == "2");
  CHECK(said(first, "pods") == "default/a,default/b");
  CHECK(said(leave("{}"), "state") == "leaving");
  const auto asked_to_end = [&](const std::string& pod) {
    const auto found = cluster.store().read().find(api::kind_of<Pod>().key("default", pod));
    return !found || found->meta().has_deletion_timestamp();
  };
  CHECK(rest_test::eventually([&] { return asked_to_end("a") && asked_to_end("b"); }));
  CHECK(said(leave("{}"), "state") == "gone");
  CHECK_FALSE(cluster.store().read().find(node_key("n0")));
  CHECK(said(leave("{}"), "state") == "gone");

  const auto other = cluster.join("n1", x509::make_key().value());
  add_pod(cluster, "c", "n1");
  const auto at_once =
      cluster.ask(other, "POST", "/troupe/v1/nodes/n1/leave", R"({"force":"true"})");
  CHECK(said(at_once, "state") == "gone");
  CHECK_FALSE(cluster.store().read().find(node_key("n1")));
  CHECK(cluster.store().read().find(api::kind_of<Pod>().key("default", "c")));
}

TEST_CASE("a node is gone only when it is, however often its Node changes meanwhile") {
  join_test cluster;
  int late = 0;
  for (int round = 0; round < 10; ++round) {
    const auto name = "n" + std::to_string(round);
    const auto node = cluster.join(name, x509::make_key().value());
    std::jthread reporter{[&](const std::stop_token& over) {
      for (int i = 0; i < 100 && !over.stop_requested(); ++i) {
        const auto found = cluster.store().read().find(node_key(name));
        if (!found) return;
        auto content = found->copy_as<Node>();
        content->mutable_status()->mutable_node_info()->set_boot_id(std::to_string(i));
        persistence::transaction transaction;
        transaction.preconditions.push_back({node_key(name), found->revision()});
        transaction.mutations.push_back({node_key(name), &found->kind(), std::move(content)});
        std::promise<void> done;
        cluster.store().submit(std::move(transaction), [&](const auto&) { done.set_value(); });
        done.get_future().wait();
      }
    }};
    std::string state;
    for (int i = 0; i < 200 && state != "gone"; ++i) {
      const auto answer = cluster.ask(node, "POST", "/troupe/v1/nodes/" + name + "/leave", "{}");
      state = said(answer, "state");
      if (state == "leaving") ++late;
      if (state == "gone") CHECK_FALSE(cluster.store().read().find(node_key(name)));
    }
    CHECK(state == "gone");
  }
  CHECK(late >= 10);
}

}  // namespace troupe::server::testing
