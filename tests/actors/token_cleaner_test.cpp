#include "actors/tokens/token_cleaner.hpp"

#include <catch2/catch.hpp>

#include "api/values/timestamp.hpp"
#include "support/cluster.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::bootstrap_token;
using api::core::v1::Secret;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* ns = "kube-system";

bootstrap_token token(const std::string& id) {
  bootstrap_token made;
  made.id = id;
  made.secret = "0123456789abcdef";
  made.authenticates = true;
  made.extra_groups = {"system:bootstrappers:troupe"};
  made.description = "for a rack";
  return made;
}

void add(cluster& c, const std::string& id, std::chrono::seconds lifetime) {
  auto made = token(id);
  made.expires =
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(c.now()) + lifetime;
  c.create(*actors::write_bootstrap_token(made));
}

bool there(cluster& c, const std::string& id) {
  return c.find<Secret>(ns, "bootstrap-token-" + id) != nullptr;
}

std::string describe_cleaner(cluster& c) {
  std::string text;
  c.simulation().system().request<runtime::description>(
      c.actor("token-cleaner", "token-cleaner"), runtime::describe{}, seconds{1},
      [&](auto reply) { text = reply ? (*reply)->text : "none"; });
  c.settle();
  return text;
}

// In place of the writer: records the deletions of the cleaner.
class removals : public runtime::actor {
 public:
  explicit removals(std::vector<actors::remove>* notes) : notes_{notes} {}
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&removals::on_remove);
    return table;
  }

 private:
  void on_remove(const actors::remove& m) { notes_->push_back(m); }
  std::vector<actors::remove>* notes_;
};

std::optional<bootstrap_token> read(const Secret& secret) {
  const api::object object{api::kind_of<Secret>(), std::make_unique<Secret>(secret), 0};
  return actors::read_bootstrap_token(object);
}

}  // namespace

TEST_CASE("expired tokens are removed despite crashes, and no others") {
  for_each_seed(5, [](std::uint64_t seed) {
    cluster c{seed};
    add(c, "aaaaaa", minutes{1});
    add(c, "bbbbbb", minutes{60});
    c.create(*actors::write_bootstrap_token(token("cccccc")));  // never expires
    Secret plain;
    plain.mutable_metadata()->set_name("bootstrap-token-dddddd");
    plain.mutable_metadata()->set_namespace_(ns);
    c.create(plain);
    c.settle();
    CHECK(there(c, "aaaaaa"));
    CHECK(c.run_until([&] { return !there(c, "aaaaaa"); }, seconds{62}));
    c.crash("token-cleaner", "token-cleaner");
    CHECK(c.run_until([&] { return !there(c, "bbbbbb"); }, minutes{61}));
    c.advance(minutes{60});
    CHECK(there(c, "cccccc"));
    CHECK(there(c, "dddddd"));
  });
}

TEST_CASE("a token is deleted within a second of its expiry, with any other tokens") {
  cluster c{1};
  add(c, "aaaaaa", minutes{60});
  c.settle();
  add(c, "bbbbbb", seconds{20});
  c.advance(seconds{19});
  CHECK(there(c, "bbbbbb"));
  CHECK_THAT(describe_cleaner(c), Catch::Matchers::Contains("tokens that expire: 2"));
  CHECK(c.run_until([&] { return !there(c, "bbbbbb"); }, seconds{2}));
  c.remove<Secret>(ns, "bootstrap-token-aaaaaa", 0);
  c.settle();
  CHECK_THAT(describe_cleaner(c), Catch::Matchers::Contains("tokens that expire: 0"));
}

TEST_CASE("a token that is extended at the moment of its removal stays") {
  cluster c{1};
  std::vector<actors::remove> requests;
  auto& system = c.simulation().system();
  auto to = c.plane().core_actors();
  to.writer = system.spawn({.kind = "test", .name = "writer"}, runtime::make<removals>(&requests));
  system.spawn({.kind = "test", .name = "cleaner"}, runtime::make<actors::token_cleaner>(to));
  add(c, "aaaaaa", seconds{20});
  const auto seen = c.find<Secret>(ns, "bootstrap-token-aaaaaa")->revision();
  c.advance(seconds{21});
  REQUIRE_FALSE(requests.empty());
  CHECK(requests[0].key == "/registry/secrets/kube-system/bootstrap-token-aaaaaa");
  CHECK(requests[0].at == seen);
}

TEST_CASE("a token whose expiration is extended stays") {
  cluster c{1};
  add(c, "aaaaaa", minutes{1});
  c.settle();
  const auto later = api::format_time(
      std::chrono::floor<seconds>(c.now() + minutes{10}).time_since_epoch().count());
  c.change<Secret>(ns, "bootstrap-token-aaaaaa",
                   [&](Secret& s) { (*s.mutable_data())["expiration"] = later; });
  c.advance(minutes{9});
  CHECK(there(c, "aaaaaa"));
  c.advance(minutes{2});
  CHECK_FALSE(there(c, "aaaaaa"));
}

TEST_CASE("a token that expires in the year 9999 is valid, and is not removed") {
  auto secret = *actors::write_bootstrap_token(token("aaaaaa"));
  (*secret.mutable_data())["expiration"] = "9999-12-31T23:59:59Z";
  REQUIRE(read(secret));
  CHECK_FALSE(read(secret)->expired(std::chrono::system_clock::now()));
  cluster c{1};
  c.create(secret);
  c.advance(minutes{2});
  CHECK(there(c, "aaaaaa"));
}

TEST_CASE("a token's secret is read back as written, and an invalid secret is no token") {
  auto made = token("aaaaaa");
  made.expires = actors::token_time{} + std::chrono::hours{500'000};
  const auto good = *actors::write_bootstrap_token(made);
  const auto found = read(good);
  REQUIRE(found);
  CHECK(found->id == made.id);
  CHECK(found->secret == made.secret);
  CHECK(found->expires == made.expires);
  CHECK(found->extra_groups == made.extra_groups);
  CHECK(found->authenticates);

  const auto spoilt = [&](auto spoil) {
    auto copy = good;
    spoil(copy);
    return read(copy);
  };
  CHECK_FALSE(spoilt([](Secret& s) { s.set_type("Opaque"); }));
  CHECK_FALSE(spoilt([](Secret& s) { s.mutable_metadata()->set_namespace_("default"); }));
  CHECK_FALSE(spoilt([](Secret& s) { s.mutable_metadata()->set_name("bootstrap-token-bbbbbb"); }));
  CHECK_FALSE(spoilt([](Secret& s) { (*s.mutable_data())["token-secret"] = "short"; }));
  CHECK_FALSE(
      spoilt([](Secret& s) { (*s.mutable_data())["auth-extra-groups"] = "system:masters"; }));
  CHECK_FALSE(spoilt([](Secret& s) { s.mutable_metadata()->mutable_deletion_timestamp(); }));
  const auto groups = [&](const std::string& list) {
    return spoilt([&](Secret& s) { (*s.mutable_data())["auth-extra-groups"] = list; });
  };
  const std::string prefix = "system:bootstrappers:";
  const auto two = groups(prefix + "a,," + prefix + "b:c-d,");
  REQUIRE(two);
  CHECK(two->extra_groups == std::vector<std::string>{prefix + "a", prefix + "b:c-d"});
  CHECK(groups(prefix + std::string(256, 'a')));
  CHECK_FALSE(groups(prefix + std::string(257, 'a')));
  CHECK_FALSE(groups(prefix));
  CHECK_FALSE(groups(prefix + "a-"));
  const auto unclear = spoilt([](Secret& s) { (*s.mutable_data())["expiration"] = "tomorrow"; });
  REQUIRE(unclear);
  CHECK(unclear->expired(std::chrono::system_clock::now()));
}

TEST_CASE("a token's text is an id and a secret, or nothing") {
  const auto parts = actors::split_token("abc123.0123456789abcdef");
  REQUIRE(parts);
  CHECK(parts->id == "abc123");
  CHECK(parts->secret == "0123456789abcdef");
  for (const auto* text :
       {"", ".", "abc123", "abc123.", "ABC123.0123456789abcdef", "abc123.0123456789abcdef0",
        "abc12.0123456789abcdef", "abc123.0123456789abcde/"})
    CHECK_FALSE(actors::split_token(text));
}

}  // namespace troupe::test
