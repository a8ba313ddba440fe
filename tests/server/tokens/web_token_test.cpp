// The texts of tokens, and the keys that sign them.
#include "server/tokens/web_token.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "server/credentials/base64url.hpp"
#include "server/credentials/private_file.hpp"
#include "server/credentials/x509.hpp"
#include "server/tokens/account_keys.hpp"
#include "server/tokens/verified_tokens.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::server {

namespace {

using actors::named_uid;
using actors::token_claims;

es256::key new_key() {
  return es256::key::read(x509::make_key().value()).value();
}

token_claims claims() {
  token_claims out;
  out.ns = "shop";
  out.account = {"robot", "u1"};
  out.pod = named_uid{"web", "u2"};
  out.node = named_uid{"n0", "u3"};
  out.audiences = {"a", "b"};
  out.id = "jti";
  out.issued = 1'700'000'000;
  out.expires = 1'731'536'000;
  out.warn_after = 1'700'003'607;
  return out;
}

// A word of up to 12 characters, including some that JSON escapes.
std::string word(std::mt19937_64& random) {
  static constexpr std::string_view letters = "abz09-._\"\\/\n\x01 \xc3\xa4";
  std::string out;
  for (auto left = random() % 12; left > 0; --left) {
    const auto at = random() % (letters.size() - 2);
    out += at == letters.size() - 3 ? "\xc3\xa4" : std::string(1, letters[at]);
  }
  return out;
}

bool same(const token_claims& a, const token_claims& b) {
  return a.ns == b.ns && a.account == b.account && a.pod == b.pod && a.secret == b.secret &&
         a.node == b.node && a.audiences == b.audiences && a.id == b.id && a.issued == b.issued &&
         a.expires == b.expires && a.warn_after == b.warn_after && a.legacy == b.legacy;
}

}  // namespace

TEST_CASE("a token has the same claims as upstream's", "[tokens]") {
  CHECK(print_claims(claims(), "https://issuer") ==
        R"({"aud":["a","b"],"exp":1731536000,"iat":1700000000,"jti":"jti","kubernetes.io":{)"
        R"("namespace":"shop","node":{"name":"n0","uid":"u3"},"pod":{"name":"web","uid":"u2"},)"
        R"("serviceaccount":{"name":"robot","uid":"u1"},"warnafter":1700003607},"nbf":1700000000,)"
        R"("iss":"https://issuer","sub":"system:serviceaccount:shop:robot"})");
  auto legacy = claims();
  legacy.legacy = true;
  legacy.secret = named_uid{"s", {}};
  CHECK(print_claims(legacy, "https://issuer") ==
        R"({"kubernetes.io/serviceaccount/namespace":"shop",)"
        R"("kubernetes.io/serviceaccount/secret.name":"s",)"
        R"("kubernetes.io/serviceaccount/service-account.name":"robot",)"
        R"("kubernetes.io/serviceaccount/service-account.uid":"u1",)"
        R"("iss":"kubernetes/serviceaccount","sub":"system:serviceaccount:shop:robot"})");
}

TEST_CASE("claims that were written are read as they were", "[tokens]") {
  std::mt19937_64 random{11};
  for (int round = 0; round < 2'000; ++round) {
    token_claims out;
    out.ns = word(random);
    out.account = {word(random), "u" + word(random)};
    const auto maybe = [&](std::optional<named_uid>& into) {
      if (random() % 2 == 0) into = named_uid{word(random), word(random)};
    };
    maybe(out.pod);
    maybe(out.node);
    maybe(out.secret);
    for (auto left = random() % 4; left > 0; --left)
      out.audiences.push_back(word(random));
    out.id = word(random);
    out.issued = static_cast<std::int64_t>(random() % 4'000'000'000);
    out.expires = out.issued + 1 + static_cast<std::int64_t>(random() % 4'000'000'000);
    const auto read = parse_claims(print_claims(out, "https://issuer"));
    REQUIRE(read);
    CHECK(read->issuer == "https://issuer");
    CHECK(same(read->claims, out));
  }
}

TEST_CASE("claims of another form are no service account's", "[tokens]") {
  const auto whole = print_claims(claims(), "https://issuer");
  const auto without = [&](const std::string& text, const std::string& instead = {}) {
    auto changed = whole;
    const auto at = changed.find(text);
    REQUIRE(at != changed.npos);
    changed.replace(at, text.size(), instead);
    return changed;
  };
  for (const auto& json :
       {std::string{}, std::string{"[]"}, std::string{"{}"}, without("system:serviceaccount:shop"),
        without("\"exp\":1731536000,"), without("\"uid\":\"u1\"", "\"uid\":1"),
        without("\"kubernetes.io\"", "\"other\""), without("{\"name\":\"robot\"", "[{\"name\":1}")})
    CHECK_FALSE(parse_claims(json));
  CHECK_FALSE(parse_claims(std::string(100'000, '[')));
}

TEST_CASE("a signature is good for its token and its key alone", "[tokens]") {
  const auto key = new_key(), other = new_key();
  const auto token = sign_token(claims(), "https://issuer", key).value();
  const auto parts = split_token(token);
  REQUIRE(parts);
  CHECK(parts->key_id == key.id());
  CHECK(key.verify(parts->signed_text, parts->signature));
  CHECK_FALSE(other.verify(parts->signed_text, parts->signature));
  std::mt19937_64 random{5};
  for (int round = 0; round < 300; ++round) {
    auto changed = token;
    changed[random() % changed.size()] ^= static_cast<char>(1 << random() % 7);
    if (changed == token) continue;
    const auto read = split_token(changed);
    CHECK_FALSE((read && key.verify(read->signed_text, read->signature)));
  }
  CHECK_FALSE(key.verify(parts->signed_text, std::string(64, '\0')));
  CHECK_FALSE(key.verify(parts->signed_text, std::string(64, '\xff')));
}

TEST_CASE("a token without a signature, or with another algorithm, is none", "[tokens]") {
  const auto token = sign_token(claims(), "https://issuer", new_key()).value();
  const auto rest = token.substr(token.find('.'));
  for (const auto* header :
       {R"({"alg":"none"})", R"({"alg":"HS256"})", R"({"alg":"RS256"})", "{}", "", "[]"})
    CHECK_FALSE(split_token(base64url(header) + rest));
  CHECK_FALSE(split_token(token.substr(0, token.rfind('.'))));
  CHECK_FALSE(split_token(token + "="));
  CHECK_FALSE(split_token(token + std::string(token_limit_bytes, 'A')));
}

TEST_CASE("base64 for URLs is read in one form only", "[tokens]") {
  std::mt19937_64 random{3};
  for (int round = 0; round < 1'000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (auto& each : bytes)
      each = static_cast<char>(random());
    CHECK(from_base64url(base64url(bytes)) == bytes);
  }
  for (const auto* text : {"A", "AB", "+A==", "QQ==", "Q Q", "QR", "Q\n"})
    CHECK_FALSE(from_base64url(text) == std::optional<std::string>{"x"});
  CHECK(from_base64url("QQ") == "A");
  CHECK_FALSE(from_base64url("QR"));  // the same byte, with unused bits set
  CHECK_FALSE(from_base64url("QQ=="));
}

TEST_CASE("a key is replaced by giving the old one another name", "[tokens]") {
  const test::scratch_folder folder;
  const auto path = folder.path() / "pki";
  const auto first = account_keys::open(path);
  REQUIRE(first);
  CHECK(account_keys::open(path)->signing().id() == first->signing().id());
  std::filesystem::rename(path / "sa.key", path / "sa-2026.key");
  const auto second = account_keys::open(path);
  REQUIRE(second);
  CHECK(second->all().size() == 2);
  CHECK(second->signing().id() != first->signing().id());
  const auto token = sign_token(claims(), "https://issuer", first->signing()).value();
  const auto parts = split_token(token);
  REQUIRE(second->find(parts->key_id) != nullptr);
  CHECK(second->find(parts->key_id)->verify(parts->signed_text, parts->signature));
  CHECK(second->find("none") == nullptr);
}

TEST_CASE("a key file that is damaged is an error and not replaced", "[tokens]") {
  const test::scratch_folder folder;
  REQUIRE(account_keys::open(folder.path()));
  const auto path = folder.path() / "sa.key";
  const auto pem = read_private_file(path).value().value();
  for (const auto& text : {std::string{}, pem.substr(0, pem.size() / 2), std::string{"x"}}) {
    REQUIRE(write_private_file(path, text));
    const auto opened = account_keys::open(folder.path());
    REQUIRE_FALSE(opened);
    CHECK(opened.error().find(path.string()) != std::string::npos);
    CHECK(opened.error().find("restore the file") != std::string::npos);
    CHECK(read_private_file(path).value() == text);
  }
}

TEST_CASE("verified tokens are kept within a bound, those that are used the longest", "[tokens]") {
  verified_tokens known{10};
  const auto token = std::make_shared<const verified_token>(actors::token_claims{}, nullptr);
  known.put("used", token);
  for (int i = 0; i < 1'000; ++i) {
    known.put(std::to_string(i), token);
    CHECK(known.size() <= 20);
    CHECK(known.find("used") != nullptr);
  }
  CHECK(known.find("0") == nullptr);
}

}  // namespace troupe::server
