// Secrets that hold tokens of service accounts.
#include "actors/tokens/token_secrets.hpp"

#include <catch2/catch.hpp>

#include "actors/core/cluster_authority.hpp"
#include "actors/write/admission/external_step.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "support/cluster.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::core::v1::Namespace;
using api::core::v1::Secret;
using api::core::v1::ServiceAccount;

namespace {

// Tokens are the names of their accounts.
struct plain_issuer final : actors::token_issuer {
  std::vector<std::string> audiences{"api"};
  const std::vector<std::string>& api_audiences() const noexcept override { return audiences; }
  tl::expected<std::string, std::string> sign(const actors::token_claims& claims) const override {
    return claims.ns + "/" + claims.account.name + (claims.legacy ? " for ever" : "");
  }
};

cluster_options with_tokens(bool one_for_each) {
  cluster_options out;
  out.plane.issuer = std::make_shared<plain_issuer>();
  out.plane.authority = std::make_shared<actors::cluster_authority>("PEM");
  out.plane.legacy_token_secrets = one_for_each;
  return out;
}

Secret token_secret(const std::string& account) {
  Secret secret;
  secret.mutable_metadata()->set_name("t");
  (*secret.mutable_metadata()->mutable_annotations())["kubernetes.io/service-account.name"] =
      account;
  secret.set_type("kubernetes.io/service-account-token");
  return secret;
}

ServiceAccount account(const std::string& name) {
  ServiceAccount out;
  out.mutable_metadata()->set_name(name);
  return out;
}

bool filled(const cluster& c, const std::string& name) {
  const auto found = c.find<Secret>("default", name);
  if (!found) return false;
  const auto& data = found->as<Secret>().data();
  return data.contains("token") && data.contains("ca.crt") && data.contains("namespace");
}

// Refuses one operation on Secrets until told otherwise.
class refusing_step final : public actors::admission::external_step {
 public:
  explicit refusing_step(actors::admission::operation op) : op_{op} {}

  std::string_view name() const noexcept override { return "refusing"; }
  bool mutates() const noexcept override { return false; }
  bool handles(const api::kind_info& kind, actors::admission::operation op,
               bool part) const override {
    return &kind == &api::kind_of<Secret>() && op == op_ && !part;
  }
  runtime::duration timeout() const noexcept override { return std::chrono::seconds{10}; }
  void ask(actors::admission::question_ptr,
           std::function<void(actors::admission::reply)> answer) const override {
    ++asked;
    if (refuses) return answer(api::fail(api::bad_request("not now")));
    answer(actors::admission::reply{});
  }

  bool refuses = true;
  mutable std::size_t asked = 0;

 private:
  const actors::admission::operation op_;
};

}  // namespace

TEST_CASE("a secret that names an account is given its token, and goes with it", "[tokens]") {
  for_each_seed(10, [](std::uint64_t seed) {
    cluster c{seed, with_tokens(false)};
    c.create(account("robot"));
    c.create(token_secret("robot"));
    REQUIRE(c.run_until([&] { return filled(c, "t"); }));
    const auto secret = c.get<Secret>("default", "t");
    CHECK(secret.data().at("token") == "default/robot for ever");
    CHECK(secret.data().at("ca.crt") == "PEM");
    CHECK(secret.data().at("namespace") == "default");
    CHECK(secret.metadata().annotations().at("kubernetes.io/service-account.uid") ==
          c.find<ServiceAccount>("default", "robot")->meta().uid());
    c.crash("token-secrets", "token-secrets");
    c.remove<ServiceAccount>("default", "robot");
    CHECK(c.run_until([&] { return !c.find<Secret>("default", "t"); }));
  });
}

TEST_CASE("the token secret of an account that is not there is removed", "[tokens]") {
  cluster c{1, with_tokens(false)};
  c.create(token_secret("nobody"));
  CHECK(c.run_until([&] { return !c.find<Secret>("default", "t"); }));
}

TEST_CASE("the removal of a token secret is tried again after it was refused", "[tokens]") {
  const auto step = std::make_shared<refusing_step>(actors::admission::operation::remove);
  auto options = with_tokens(false);
  options.plane.external = {step};
  cluster c{1, options};
  c.create(token_secret("nobody"));
  c.advance(std::chrono::seconds{10});
  REQUIRE(c.find<Secret>("default", "t"));
  step->refuses = false;
  CHECK(c.run_until([&] { return !c.find<Secret>("default", "t"); }));
}

TEST_CASE("a token secret that is refused is tried again, more and more rarely", "[tokens]") {
  const auto step = std::make_shared<refusing_step>(actors::admission::operation::create);
  auto options = with_tokens(true);
  options.plane.external = {step};
  cluster c{1, options};
  c.advance(std::chrono::minutes{10});
  const auto accounts = c.count<ServiceAccount>();
  REQUIRE(step->asked >= accounts);
  CHECK(step->asked <= 15 * accounts);
  step->refuses = false;
  CHECK(c.run_until([&] { return c.count<Secret>() == accounts; }, std::chrono::minutes{20}));
}

TEST_CASE("an account does not list its token secret when that is deleted", "[tokens]") {
  for_each_seed(10, [](std::uint64_t seed) {
    cluster c{seed, with_tokens(false)};
    auto robot = account("robot");
    robot.add_secrets()->set_name("t");
    robot.add_secrets()->set_name("mounted");
    c.create(robot);
    c.create(token_secret("robot"));
    REQUIRE(c.run_until([&] { return filled(c, "t"); }));
    c.remove<Secret>("default", "t");
    CHECK(
        c.run_until([&] { return c.get<ServiceAccount>("default", "robot").secrets_size() == 1; }));
    CHECK(c.get<ServiceAccount>("default", "robot").secrets(0).name() == "mounted");
  });
}

TEST_CASE("on demand each account has one secret, which it lists", "[tokens]") {
  for_each_seed(10, [](std::uint64_t seed) {
    cluster c{seed, with_tokens(true)};
    const auto listed = [&](const std::string& name) -> std::string {
      const auto found = c.find<ServiceAccount>("default", name);
      if (!found || found->as<ServiceAccount>().secrets().empty()) return {};
      return found->as<ServiceAccount>().secrets(0).name();
    };
    c.create(account("robot"));
    for (const auto* name : {"default", "robot"}) {
      REQUIRE(c.run_until([&] { return filled(c, listed(name)); }));
      CHECK(listed(name).starts_with(std::string{name} + "-token-"));
    }
    c.crash("token-secrets", "token-secrets");
    c.remove<Secret>("default", listed("robot"));
    CHECK(c.run_until([&] {
      const auto robot = c.get<ServiceAccount>("default", "robot");
      return robot.secrets_size() == 1 && filled(c, robot.secrets(0).name());
    }));
    // One for each account: those of the four system namespaces, and robot's.
    CHECK(c.count<Secret>() == c.count<ServiceAccount>());
  });
}

}  // namespace troupe::test
