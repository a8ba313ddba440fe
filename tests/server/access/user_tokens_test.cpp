// Tokens of people: valid ones, and their expiry.
#include "server/access/user_tokens.hpp"

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/scheme.hpp"
#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server;
using api::core::v1::Secret;
using std::chrono::hours;

namespace {

api::object_ptr object_of(std::unique_ptr<Secret> secret) {
  return std::make_shared<const api::object>(api::kind_of<Secret>(), std::move(secret), 1);
}

// A store with the Secret of a token, as a client has written it.
class kept_token {
 public:
  kept_token(user_token about, const std::string& token) {
    about.hash = hash_of_user_token(token);
    const auto text = api::encode_json(*write_user_token(about), "v1", "Secret");
    CHECK(server_.post("/api/v1/namespaces/kube-system/secrets", text).status == 201);
  }
  testing::rest_test& server() { return server_; }
  user_ptr find(std::string_view token, user_token::time now = user_token::time{}) {
    return user_tokens{server_.store(), [now] { return now; }}.find(token);
  }

 private:
  testing::rest_test server_;
};

}  // namespace

TEST_CASE("a token names its user and groups until it expires or is deleted") {
  const auto token = new_user_token("jane@example.com");
  const user_token::time end{hours{100}};
  kept_token kept{{.user = "jane@example.com", .groups = {"devs", "a, b"}, .expires = end}, token};
  const auto user = kept.find(token);
  REQUIRE(user);
  CHECK(user->name == "jane@example.com");
  CHECK(user->groups == std::vector<std::string>{"devs", "a, b"});
  CHECK(kept.find(token, end - std::chrono::seconds{1}));
  CHECK_FALSE(kept.find(token, end));

  auto wrong = token;
  wrong.back() = wrong.back() == 'A' ? 'B' : 'A';
  for (const auto& other : {wrong, token + "A", token.substr(0, token.size() - 1),
                            token.substr(0, token.find('.')), std::string{"a.b"}, std::string{}})
    CHECK_FALSE(kept.find(other));
  CHECK_FALSE(kept.find(new_user_token("jane@example.com")));

  const auto path =
      "/api/v1/namespaces/kube-system/secrets/" + user_secret_name("jane@example.com");
  CHECK(kept.server().remove(path).status == 200);
  CHECK_FALSE(kept.find(token));
}

TEST_CASE("a token of a user that expires in the year 9999 is valid") {
  const user_token good{.user = "jane", .groups = {"devs"}, .hash = hash_of_user_token("t")};
  auto secret = write_user_token(good);
  (*secret->mutable_data())["expiration"] = "9999-12-31T23:59:59Z";
  const auto found = read_user_token(*object_of(std::move(secret)));
  REQUIRE(found);
  CHECK_FALSE(found->expired(std::chrono::system_clock::now()));
}

TEST_CASE("a Secret that no command has written is no user") {
  const user_token good{.user = "jane", .groups = {"devs"}, .hash = hash_of_user_token("t")};
  CHECK(read_user_token(*object_of(write_user_token(good))));
  const auto after = [&](auto change) {
    auto secret = write_user_token(good);
    change(*secret);
    return read_user_token(*object_of(std::move(secret))).has_value();
  };
  CHECK_FALSE(after([](Secret& s) { s.set_type("Opaque"); }));
  CHECK_FALSE(after([](Secret& s) { s.mutable_metadata()->set_namespace_("default"); }));
  CHECK_FALSE(after([](Secret& s) { (*s.mutable_data())["user"] = "joe"; }));
  CHECK_FALSE(after([](Secret& s) { (*s.mutable_data())["groups"] = "system:masters"; }));
  CHECK_FALSE(after([](Secret& s) { (*s.mutable_data())["expiration"] = "soon"; }));
  const user_token system{.user = "system:node:n1", .hash = hash_of_user_token("t")};
  CHECK_FALSE(read_user_token(*object_of(write_user_token(system))));
}

TEST_CASE("names of users are refused with the reason") {
  CHECK(check_user_name("jane doe"));
  CHECK_THAT(check_user_name("system:masters").error(), Catch::Contains("\"system:\""));
  CHECK_FALSE(check_user_name(""));
  CHECK_FALSE(check_user_name(std::string(257, 'x')));
  CHECK_FALSE(check_user_name("a\nb"));
}
