// A joined node requests the tokens of its pods.
#include <catch2/catch.hpp>

#include "actors/link/joined.hpp"
#include "actors/link/raw_ends.hpp"
#include "api/schema/core_account.pb.h"
#include "support/nodes.hpp"

namespace troupe::test {

using api::core::v1::ServiceAccount;
using std::chrono::seconds;

namespace {

// Tokens are the names of their accounts.
struct plain_issuer final : actors::token_issuer {
  std::vector<std::string> audiences{"api"};
  const std::vector<std::string>& api_audiences() const noexcept override { return audiences; }
  tl::expected<std::string, std::string> sign(const actors::token_claims& claims) const override {
    return claims.ns + "/" + claims.account.name;
  }
};

cluster_options with_tokens() {
  cluster_options out;
  out.plane.controllers = false;
  out.plane.issuer = std::make_shared<plain_issuer>();
  return out;
}

// Two nodes with a pod each, which requests a token.
struct world {
  joined_cluster joined{1, with_tokens()};

  world() {
    auto& plane = joined.plane();
    ServiceAccount account;
    account.mutable_metadata()->set_name("default");
    plane.create(account);
    for (const std::string node : {"n0", "n1"}) {
      joined.add(node);
      auto pod = pod_named("p-" + node, node);
      pod.mutable_spec()->set_service_account_name("default");
      auto& volume = *pod.mutable_spec()->add_volumes();
      volume.set_name("v");
      auto& token = *volume.mutable_volume_source()
                         ->mutable_projected()
                         ->add_sources()
                         ->mutable_service_account_token();
      token.set_expiration_seconds(600);
      token.set_path("t");
      plane.create(pod);
    }
    joined.start("n0");
  }

  actors::request_token request_for(const std::string& pod) {
    const auto found = joined.plane().find<api::core::v1::Pod>("default", pod);
    return {.order = {.ns = "default",
                      .account = "default",
                      .audiences = {},
                      .expiration_seconds = 600,
                      .bound_kind = "Pod",
                      .bound_api_version = "v1",
                      .bound_name = pod,
                      .bound_uid = found->meta().uid()}};
  }
};

}  // namespace

TEST_CASE("a node gets the tokens of its pods over the link, and no others", "[link]") {
  world w;
  actor_of_test kubelet{w.joined.plane().simulation(), "kubelet"};
  const auto ask = [&](const std::string& pod) -> api::expected<actors::granted_token> {
    kubelet.ask(w.joined.tokens_of("n0"), w.request_for(pod), seconds{30}, &told::granted);
    w.joined.plane().advance(seconds{1});
    REQUIRE(kubelet.heard->granted.size() == 1);
    return std::exchange(kubelet.heard->granted, {}).front().result;
  };
  CHECK(ask("p-n0").error().code == 503);  // there is no link
  REQUIRE(w.joined.connect("n0"));
  const auto own = ask("p-n0");
  REQUIRE(own);
  CHECK(own->token == "default/default");
  CHECK(own->expires > 0);
  CHECK(ask("p-n1").error().code == 403);
  w.joined.plane().remove<ServiceAccount>("default", "default");
  CHECK(ask("p-n0").error().message == "serviceaccounts \"default\" not found");
}

TEST_CASE("a request for a token that is under way when the link is lost is answered", "[link]") {
  world w;
  REQUIRE(w.joined.connect("n0"));
  actor_of_test kubelet{w.joined.plane().simulation(), "kubelet"};
  w.joined.cut("n0");
  kubelet.ask(w.joined.tokens_of("n0"), w.request_for("p-n0"), seconds{30}, &told::granted);
  w.joined.plane().advance(seconds{60});
  REQUIRE(kubelet.heard->granted.size() == 1);
  CHECK(kubelet.heard->granted.front().result.error().code == 503);
}

}  // namespace troupe::test
