#include "server/credentials/pki.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "api/values/base64.hpp"
#include "server/access/token_file.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "server/credentials/private_file.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using server::pki;

namespace {

constexpr auto day = 24h;

int mode_of(const std::filesystem::path& path) {
  struct stat state {};
  REQUIRE(::stat(path.c_str(), &state) == 0);
  return static_cast<int>(state.st_mode & 0777);
}

std::string text_of(const std::filesystem::path& path) {
  return server::read_private_file(path).value().value_or("");
}

}  // namespace

TEST_CASE("the first start makes keys and certificates that only their owner may read") {
  const test::scratch_folder folder;
  const auto directory = folder.path() / "data" / "pki";
  const auto now = std::chrono::system_clock::now();
  const auto made = pki::open({directory, {"10.1.2.3", "node.example"}}, now);
  REQUIRE(made);
  REQUIRE((**made).renew_front_proxy(now));
  CHECK(mode_of(directory) == 0700);
  for (const auto* name : {"ca.crt", "ca.key", "server.crt", "server.key", "admin.crt", "admin.key",
                           "front-proxy-ca.crt", "front-proxy-ca.key", "front-proxy-client.crt",
                           "front-proxy-client.key"})
    CHECK(mode_of(directory / name) == 0600);
  const auto material = (**made).server();
  CHECK(server::x509::belongs({material.certificates, material.private_key}, (**made).authority()));
  CHECK(server::x509::covers(material.certificates,
                             {"localhost", "127.0.0.1", "::1", "10.1.2.3", "node.example"}));
  CHECK_FALSE(server::x509::covers(material.certificates, {"elsewhere.example"}));
  CHECK_FALSE(server::x509::covers(material.certificates, {"10.1.2.4"}));
  CHECK(server::x509::belongs((**made).administrator(), (**made).authority()));
}

TEST_CASE(
    "the front proxy has an authority that signs no clients, and gets another with its files") {
  const test::scratch_folder folder;
  const auto directory = folder.path() / "pki";
  const auto now = std::chrono::system_clock::now();
  const auto opened = [&] {
    auto keys = pki::open({directory, {}}, now).value();
    REQUIRE(keys->renew_front_proxy(now));
    return keys;
  };
  const auto made = opened();
  const auto front = made->front_proxy();
  CHECK(server::x509::belongs(front.client, front.authority));
  CHECK_FALSE(server::x509::belongs(front.client, made->authority()));
  CHECK_FALSE(server::x509::belongs(made->administrator(), front.authority));
  CHECK(opened()->front_proxy().client.certificate == front.client.certificate);
  std::filesystem::remove(directory / "front-proxy-ca.key");
  const auto again = opened()->front_proxy();
  CHECK(again.authority != front.authority);
  CHECK(server::x509::belongs(again.client, again.authority));
}

TEST_CASE("a second start uses the files of the first") {
  const test::scratch_folder folder;
  const auto now = std::chrono::system_clock::now();
  const auto first = pki::open({folder.path() / "pki", {}}, now).value()->server();
  const auto second = pki::open({folder.path() / "pki", {}}, now + day).value()->server();
  CHECK(first.certificates == second.certificates);
  CHECK(first.private_key == second.private_key);
  CHECK(first.client_authority == second.client_authority);
}

TEST_CASE("certificates are renewed when less than 30 percent of their life is left") {
  const test::scratch_folder folder;
  const auto now = std::chrono::system_clock::now();
  auto keys = pki::open({folder.path() / "pki", {}}, now).value();
  const auto first = keys->server();
  CHECK_FALSE(keys->renew(now + 250 * day).value());
  CHECK(keys->server().certificates == first.certificates);
  CHECK(keys->renew(now + 260 * day).value());
  const auto second = keys->server();
  CHECK(second.certificates != first.certificates);
  CHECK(second.client_authority == first.client_authority);
  CHECK(server::x509::read_validity(second.certificates)->until > now + 600 * day);
}

TEST_CASE("a renewed authority keeps its key, so that certificates it signed stay good") {
  const test::scratch_folder folder;
  const auto now = std::chrono::system_clock::now();
  auto keys = pki::open({folder.path() / "pki", {}}, now).value();
  const auto old_authority = keys->authority();
  const auto old_admin = keys->administrator();
  CHECK(keys->renew(now + 2600 * day).value());
  CHECK(keys->authority() != old_authority);
  CHECK(server::x509::belongs(old_admin, keys->authority()));
  CHECK(server::x509::belongs(keys->administrator(), old_authority));
}

TEST_CASE("the server's certificate is made again when it does not cover a name or is damaged") {
  const test::scratch_folder folder;
  const auto directory = folder.path() / "pki";
  const auto now = std::chrono::system_clock::now();
  const auto first = pki::open({directory, {}}, now).value()->server();
  const auto second = pki::open({directory, {"10.0.0.9"}}, now).value()->server();
  CHECK(second.certificates != first.certificates);
  CHECK(server::x509::covers(second.certificates, {"10.0.0.9", "127.0.0.1"}));
  REQUIRE(server::write_private_file(directory / "server.key", "damaged"));
  const auto third = pki::open({directory, {"10.0.0.9"}}, now).value()->server();
  CHECK(third.certificates != second.certificates);
  CHECK(third.client_authority == first.client_authority);
}

TEST_CASE("a damaged authority is an error that names the files and is left as it is") {
  const test::scratch_folder folder;
  const auto directory = folder.path() / "pki";
  const auto now = std::chrono::system_clock::now();
  REQUIRE(pki::open({directory, {}}, now));
  const auto certificate = text_of(directory / "ca.crt");
  std::filesystem::remove(directory / "ca.key");
  const auto refused = pki::open({directory, {}}, now);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().find((directory / "ca.key").string()) != std::string::npos);
  CHECK(refused.error().find("restore both") != std::string::npos);
  CHECK(text_of(directory / "ca.crt") == certificate);
}

TEST_CASE("a first start that was interrupted between key and certificate is completed") {
  const test::scratch_folder folder;
  const auto directory = folder.path() / "pki";
  const auto now = std::chrono::system_clock::now();
  REQUIRE(pki::open({directory, {}}, now));
  const auto key = text_of(directory / "ca.key");
  std::filesystem::remove(directory / "ca.crt");
  REQUIRE(pki::open({directory, {}}, now));
  CHECK(text_of(directory / "ca.key") == key);
}

TEST_CASE(
    "files that others may read lose that mode, and a path that is no directory is an error") {
  const test::scratch_folder folder;
  const auto path = folder.write("secret", "text");
  ::chmod(path.c_str(), 0644);
  CHECK(text_of(path) == "text");
  CHECK(mode_of(path) == 0600);
  CHECK_FALSE(server::read_private_file(folder.path() / "none").value());
  const auto refused = pki::open({path, {}}, std::chrono::system_clock::now());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().find(path.string()) != std::string::npos);
}

TEST_CASE("the kubeconfig embeds everything and calls a wildcard listener by loopback") {
  const auto& all = test_identities::get();
  const auto text = server::kubeconfig({"0.0.0.0", 6443}, all.authority.certificate, all.client);
  CHECK(text.find("server: https://127.0.0.1:6443\n") != std::string::npos);
  CHECK(text.find("current-context: troupe\n") != std::string::npos);
  std::string authority;
  api::append_base64(authority, all.authority.certificate);
  CHECK(text.find("certificate-authority-data: " + authority) != std::string::npos);
  CHECK(server::kubeconfig({"::", 1}, "", {}).find("https://[::1]:1\n") != std::string::npos);
}

TEST_CASE("tokens come from a file of upstream's form") {
  const test::scratch_folder folder;
  const auto path = folder.write("tokens.csv",
                                 "# a comment\n"
                                 "aaaa,alice,1,\"dev,ops\"\n"
                                 "\n"
                                 "bbbb, bob ,2\r\n");
  const auto tokens = server::token_file::open(path).value();
  const auto alice = tokens->find("aaaa");
  REQUIRE(alice);
  CHECK(alice->name == "alice");
  CHECK(alice->uid == "1");
  CHECK(alice->groups == std::vector<std::string>{"dev", "ops"});
  CHECK(tokens->find("bbbb")->name == "bob");
  for (const auto* wrong : {"", "aaa", "aaaaa", "AAAA", "cccc"})
    CHECK_FALSE(tokens->find(wrong));
  CHECK(mode_of(path) == 0600);
}

TEST_CASE("the first start makes one long random token for the administrator") {
  const test::scratch_folder folder;
  const auto path = folder.path() / "tokens.csv";
  REQUIRE(server::token_file::open(path));
  CHECK(mode_of(path) == 0600);
  const auto text = text_of(path);
  const auto token = text.substr(0, text.find(','));
  CHECK(token.size() == 43);
  const auto again = server::token_file::open(path).value();
  const auto admin = again->find(token);
  REQUIRE(admin);
  CHECK(admin->name == "admin");
  CHECK(admin->in_group("system:masters"));
}

TEST_CASE("tokens are read again when the file changes, and a bad file changes nothing") {
  const test::scratch_folder folder;
  const auto path = folder.write("tokens.csv", "aaaa,alice,1\n");
  const auto tokens = server::token_file::open(path).value();
  REQUIRE(server::write_private_file(path, "cccc,carol,3\n"));
  REQUIRE(tokens->refresh());
  CHECK_FALSE(tokens->find("aaaa"));
  CHECK(tokens->find("cccc"));
  REQUIRE(server::write_private_file(path, "dddd,dora,4\nsecret-token\n"));
  const auto refused = tokens->refresh();
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        path.string() + ": line 2: expected token,user,uid or token,user,uid,\"group,group\"");
  CHECK(tokens->find("cccc"));
}
