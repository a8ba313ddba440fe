#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "support/scratch_folder.hpp"
#include "tools/child.hpp"
#include "tools/etcd/etcd_process.hpp"
#include "tools/etcd/join_tokens.hpp"
#include "tools/etcd/member_keys.hpp"
#include "tools/etcd/member_settings.hpp"

using namespace troupe::tools;
using troupe::test::scratch_folder;

namespace {

member_settings example() {
  return {.name = "a",
          .client = {"0.0.0.0", 2379},
          .peer = {"10.0.0.1", 2380},
          .join = {"10.0.0.1", 2382},
          .host = "10.0.0.1",
          .initial_cluster = "a=https://10.0.0.1:2380",
          .endpoints = {"https://10.0.0.1:2379", "https://10.0.0.2:2379"}};
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const token_time now = std::chrono::system_clock::now();

}  // namespace

TEST_CASE("the settings of a member are read back as written") {
  const auto text = write_member_settings(example());
  const auto read = parse_member_settings(text);
  REQUIRE(read);
  CHECK(write_member_settings(*read) == text);
  CHECK(read->client.host == "0.0.0.0");
  CHECK(read->endpoints.size() == 2);
}

TEST_CASE("a damaged member.json is an error that names the missing setting") {
  const scratch_folder folder;
  CHECK_FALSE(load_member_settings(folder.path()).value());
  const auto text = write_member_settings(example());
  for (const auto& bad :
       {std::string{}, text.substr(0, text.size() / 2), std::string{"{}"}, std::string(100, 'x')}) {
    folder.write("member.json", bad);
    const auto read = load_member_settings(folder.path());
    REQUIRE_FALSE(read);
    CHECK(read.error().find("member.json") != std::string::npos);
  }
}

TEST_CASE("etcd is started with TLS only, and with the limits that a control plane needs") {
  const auto words = etcd_arguments("/d", example(), {});
  CHECK(words.front() == "/usr/bin/etcd");
  for (const auto* each : {"--listen-client-urls=https://0.0.0.0:2379",
                           "--advertise-client-urls=https://10.0.0.1:2379", "--client-cert-auth",
                           "--peer-client-cert-auth", "--pre-vote", "--snapshot-count=10000",
                           "--quota-backend-bytes=8589934592", "--max-request-bytes=4194304",
                           "--initial-cluster-state=new", "--data-dir=/d/member-data"})
    CHECK(has(words, each));
  CHECK(std::none_of(words.begin(), words.end(),
                     [](const auto& word) { return word.find("http://") != word.npos; }));
}

TEST_CASE("an etcd does not use the keys of another program, and does not change them") {
  const scratch_folder folder;
  const auto pki = folder.path() / "pki";
  std::filesystem::create_directory(pki);
  folder.write("pki/ca.crt", "of a cluster");
  const std::string token = "abcdef.0123456789abcdef", hash = "sha256:" + std::string(64, '0');
  for (const auto& line : {std::vector<std::string>{"etcd"},
                           {"etcd", "join", "127.0.0.1:1", "--token", token, "--ca-hash", hash,
                            "--certificate-key", std::string(64, 'a')}}) {
    auto words = line;
    words.insert(words.end(), {"--name", "a", "--etcd-binary", "/bin/true", "--data-dir",
                               folder.path().string()});
    const auto refused = test::program(words);
    CHECK(refused.code == 1);
    CHECK(refused.err.find("pki/ca.crt is the authority of another program") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "member.json"));
    CHECK(std::distance(std::filesystem::directory_iterator{pki}, {}) == 1);
    std::ifstream kept{pki / "ca.crt"};
    CHECK(std::string{std::istreambuf_iterator<char>{kept}, {}} == "of a cluster");
  }
}

TEST_CASE("a program that is missing is named with its package") {
  CHECK(missing_program("/nowhere/etcd") ==
        "there is no /nowhere/etcd: install the package etcd-server, or name the program "
        "(--etcd-binary)");
  CHECK(missing_program("/etc/passwd").starts_with("/etc/passwd cannot be run"));
}

TEST_CASE("the keys of an etcd are opened by a token with its key, until its time is over") {
  const scratch_folder folder;
  const auto keys = member_keys::open(folder.path(), "127.0.0.1");
  REQUIRE(keys);
  const member_bundle bundle{keys->authority(), {"https://127.0.0.1:2379"}};
  const auto made = make_join_token(folder.path(), bundle, now, std::chrono::minutes{1});
  REQUIRE(made);
  const auto sealed = sealed_for(folder.path(), made->token, now);
  REQUIRE_FALSE(sealed.empty());
  const auto opened =
      open_bundle(sealed, made->certificate_key, made->token, keys->authority_hash());
  REQUIRE(opened);
  CHECK(opened->authority.private_key == keys->authority().private_key);
  CHECK(opened->endpoints == bundle.endpoints);

  auto other = made->token;
  other.back() = other.back() == 'a' ? 'b' : 'a';
  CHECK(sealed_for(folder.path(), other, now).empty());
  CHECK(sealed_for(folder.path(), "../../x.0123456789abcdef", now).empty());
  CHECK(sealed_for(folder.path(), "aaaaaa.0123456789abcdef", now).empty());
  CHECK(sealed_for(folder.path(), made->token, now + std::chrono::minutes{2}).empty());

  auto wrong_key = made->certificate_key;
  wrong_key.front() = wrong_key.front() == 'a' ? 'b' : 'a';
  const auto closed = open_bundle(sealed, wrong_key, made->token, keys->authority_hash());
  REQUIRE_FALSE(closed);
  CHECK(closed.error().starts_with("--certificate-key does not belong to this token"));
  const auto stranger = open_bundle(sealed, made->certificate_key, made->token, "sha256:00");
  REQUIRE_FALSE(stranger);
  CHECK(stranger.error() == "its response contains another authority");
  for (std::size_t cut = 0; cut < sealed.size(); cut += 16)
    CHECK_FALSE(open_bundle(sealed.substr(0, cut), made->certificate_key, made->token,
                            keys->authority_hash()));
}

TEST_CASE("tokens are bounded, and those that have ended make room") {
  const scratch_folder folder;
  const member_bundle bundle{{"c", "k"}, {"e"}};
  for (std::size_t i = 0; i < etcd_defaults::tokens; ++i)
    REQUIRE(make_join_token(folder.path(), bundle, now, std::chrono::minutes{1}));
  CHECK_FALSE(make_join_token(folder.path(), bundle, now, std::chrono::minutes{1}));
  const auto later = now + std::chrono::minutes{2};
  CHECK(make_join_token(folder.path(), bundle, later, std::chrono::minutes{1}));
  CHECK(std::distance(std::filesystem::directory_iterator{folder.path() / "tokens"}, {}) == 1);
}

TEST_CASE("keys of a member stay until they end, and are made for its host") {
  const scratch_folder folder;
  const auto first = member_keys::open(folder.path(), "10.9.8.7");
  REQUIRE(first);
  auto again = member_keys::open(folder.path(), "10.9.8.7");
  REQUIRE(again);
  CHECK(first->server().certificates == again->server().certificates);
  CHECK_FALSE(again->renew().value());
  CHECK(troupe::server::x509::covers(first->server().certificates, {"10.9.8.7", "127.0.0.1"}));
  const auto moved = member_keys::open(folder.path(), "10.9.8.8");
  REQUIRE(moved);
  CHECK(moved->authority_hash() == first->authority_hash());
  CHECK(moved->server().certificates != first->server().certificates);
}
