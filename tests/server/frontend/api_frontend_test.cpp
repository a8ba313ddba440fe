// The api_frontend as the program starts it: files, kubeconfig, users, renewal, foreign
// clients.
#include "server/frontend/api_frontend.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "server/credentials/addresses.hpp"
#include "server/credentials/private_file.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using test::http_client;

namespace {

std::string read(const std::filesystem::path& path) {
  return server::read_private_file(path).value().value_or("");
}

// Standard output of a command, followed by its exit code if that is not 0.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char part[4096];
  while (const auto size = std::fread(part, 1, sizeof part, pipe))
    text.append(part, size);
  const int status = ::pclose(pipe);
  if (status != 0) text += "[exit " + std::to_string(WEXITSTATUS(status)) + "]";
  return text;
}

bool has_program(const std::string& name) {
  return output_of("command -v " + name + " >/dev/null && printf yes") == "yes";
}

class front_of_node {
 public:
  explicit front_of_node(std::function<void(server::frontend_options&)> change = {}) {
    options.listen = {"127.0.0.1", 0};
    options.data_dir = folder.path() / "data";
    if (change) change(options);
  }

  server::api_frontend& start() {
    auto started = server::api_frontend::start(options, {&api, &legacy_api, &health, {}});
    INFO((started ? std::string() : started.error()));
    REQUIRE(started);
    running = std::move(*started);
    return *running;
  }
  std::filesystem::path pki(const char* name) const { return options.data_dir / "pki" / name; }
  std::filesystem::path kubeconfig() const { return options.data_dir / "admin.kubeconfig"; }
  test::wire_options client() const {
    test::wire_options given;
    given.port = running->address().port;
    given.authority = read(pki("ca.crt"));
    return given;
  }

  test::scratch_folder folder;
  routes api, legacy_api;
  server::health_checks health;
  server::frontend_options options;
  std::unique_ptr<server::api_frontend> running;
};

}  // namespace

TEST_CASE(
    "the frontend creates its files and authenticates the administrator by certificate and token") {
  front_of_node node;
  node.start();
  struct stat state {};
  REQUIRE(::stat(node.kubeconfig().c_str(), &state) == 0);
  CHECK((state.st_mode & 0777) == 0600);
  CHECK(read(node.kubeconfig()).find("server: https://" + to_string(node.running->address())) !=
        std::string::npos);

  auto by_certificate = node.client();
  by_certificate.certificate = read(node.pki("admin.crt"));
  by_certificate.private_key = read(node.pki("admin.key"));
  http_client admin{by_certificate};
  CHECK(admin.get("/hello").status == 200);

  http_client nobody{node.client()};
  CHECK(nobody.get("/hello").status == 403);
  CHECK(nobody.get("/readyz").status == 200);
  const auto tokens = read(node.pki("tokens.csv"));
  CHECK(nobody.get("/hello", {{"Authorization", "Bearer " + tokens.substr(0, tokens.find(','))}})
            .status == 200);
}

TEST_CASE("a further address of the frontend has the same certificate and checks") {
  front_of_node node;
  const auto also = node.start().listen({"127.0.0.1", 0});
  REQUIRE(also);
  CHECK(also->port != node.running->address().port);
  auto access = node.client();
  access.port = also->port;
  CHECK(http_client{access}.get("/hello").status == 403);
  access.certificate = read(node.pki("admin.crt"));
  access.private_key = read(node.pki("admin.key"));
  CHECK(http_client{access}.get("/hello").status == 200);
}

TEST_CASE("a certificate that is near its end is renewed while the frontend serves") {
  front_of_node node{[](auto& options) { options.renew_period = 20ms; }};
  node.start();
  const auto before = read(node.pki("server.crt"));
  // If its file is missing, it must be made again.
  std::filesystem::remove(node.pki("server.crt"));
  REQUIRE(eventually([&] {
    const auto now = read(node.pki("server.crt"));
    return !now.empty() && now != before;
  }));
  CHECK(eventually([&] {
    test::wire client{node.client()};
    return client.peer_certificate() == read(node.pki("server.crt"));
  }));
}

TEST_CASE("certificates of some seconds are renewed by themselves, the kubeconfig with them") {
  front_of_node node{[](auto& options) {
    options.renew_period = 20ms;
    options.certificate_lifetime = 4s;
  }};
  node.start();
  const auto server = read(node.pki("server.crt"));
  const auto admin = read(node.kubeconfig());
  CHECK(node.running->identity().certificates.starts_with(server));
  REQUIRE(eventually([&] { return read(node.pki("server.crt")) != server; }));
  CHECK(eventually([&] { return read(node.kubeconfig()) != admin; }));
  CHECK(eventually([&] { return !node.running->identity().certificates.starts_with(server); }));
}

TEST_CASE("a server that listens on all addresses is called by each of them, and by given names") {
  front_of_node node{[](auto& options) {
    options.listen = {"0.0.0.0", 0};
    options.names = {"api.example", "192.0.2.77"};
  }};
  node.start();
  auto names = server::interface_addresses();
  CHECK_FALSE(names.empty());
  names.insert(names.end(), {"api.example", "192.0.2.77", "localhost"});
  CHECK(server::x509::covers(read(node.pki("server.crt")), names));
  const auto outward = server::outward_address();
  if (!outward.empty()) CHECK_FALSE(server::is_loopback(outward));
}

TEST_CASE("a wildcard listener is reached at an address of the machine, any other at its own") {
  const auto outward = server::outward_address();
  CHECK(server::reachable_address("0.0.0.0") == (outward.empty() ? "127.0.0.1" : outward));
  CHECK(server::reachable_address("localhost") == "127.0.0.1");
  CHECK(server::reachable_address("192.0.2.77") == "192.0.2.77");
  CHECK(server::reachable_address("::1") == "::1");
}

TEST_CASE("an address of loopback or of another machine has no second one") {
  for (const auto* address : {"127.0.0.1", "::1", "192.0.2.77"})
    CHECK(server::second_address(address).empty());
}

TEST_CASE("a token that is removed from the file is refused soon") {
  front_of_node node{[](auto& options) { options.renew_period = 20ms; }};
  node.start();
  REQUIRE(server::write_private_file(node.pki("tokens.csv"), "other,o,1,system:masters\n"));
  http_client client{node.client()};
  CHECK(eventually([&] {
    return client.get("/hello", {{"Authorization", "Bearer other"}}).status == 200;
  }));
}

TEST_CASE("the plain listener for clients of 2014 exists on demand, and needs no credentials") {
  front_of_node node{[](auto& options) {
    options.legacy_listen = {"127.0.0.1", 0};
    options.names = {"test"};  // as the client calls it
  }};
  node.start();
  node.legacy_api.on("/api/v1beta1/pods", [](auto& request, auto& answer) {
    answer.respond(text_response(request->user->name));
  });
  test::wire_options options;
  options.tls = false;
  REQUIRE(node.running->legacy_address());
  options.port = node.running->legacy_address()->port;
  http_client client{options};
  CHECK(client.get("/api/v1beta1/pods").body == "system:anonymous");
  CHECK(node.api.served == 0);
}

TEST_CASE("a port in use and a data directory that is none are one line each") {
  front_of_node first;
  first.start();
  front_of_node second{[&](auto& options) { options.listen.port = first.running->address().port; }};
  const auto refused =
      server::api_frontend::start(second.options, {&second.api, nullptr, &second.health, {}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().find("the port is in use") != std::string::npos);

  front_of_node third{[&](auto& options) { options.data_dir = first.folder.write("file", ""); }};
  const auto no_directory =
      server::api_frontend::start(third.options, {&third.api, nullptr, &third.health, {}});
  REQUIRE_FALSE(no_directory);
  CHECK(no_directory.error().find('\n') == std::string::npos);
}

TEST_CASE("curl speaks both protocols to the frontend") {
  if (!has_program("curl")) {
    test::skip("curl is not installed");
    return;
  }
  front_of_node node;
  node.start();
  const auto base = "curl -sS --max-time 60 --cacert " + node.pki("ca.crt").string() + " --cert " +
                    node.pki("admin.crt").string() + " --key " + node.pki("admin.key").string() +
                    " -w ' %{http_code} %{http_version}' ";
  const auto url = "https://" + to_string(node.running->address());
  CHECK(output_of(base + "--http1.1 " + url + "/hello") == "Hello, world\n 200 1.1");
  CHECK(output_of(base + "--http2 " + url + "/hello") == "Hello, world\n 200 2");
  CHECK(output_of(base + "--http2 -d a=b " + url + "/echo") == "a=b 200 2");
  const auto large = node.folder.write("large", std::string(2'000'000, 'l'));
  CHECK(output_of(base + "--http1.1 -o /dev/null --data-binary @" + large.string() + " " + url +
                  "/echo") == " 200 1.1");
  CHECK(output_of(base + "--http2 -o /dev/null --data-binary @" + large.string() + " " + url +
                  "/echo") == " 200 2");
  CHECK(output_of("curl -sS --max-time 60 -k -o /dev/null -w '%{http_code}' " + url + "/hello") ==
        "403");
  CHECK(output_of("curl -sS --max-time 60 --tls-max 1.1 -k " + url + "/version").find("[exit ") !=
        std::string::npos);
}

TEST_CASE("kubectl accepts the kubeconfig and reads the version") {
  if (!has_program("kubectl")) {
    test::skip("kubectl is not installed");
    return;
  }
  front_of_node node;
  node.start();
  const auto text =
      output_of("kubectl --kubeconfig " + node.kubeconfig().string() + " version --output=json");
  CHECK(text.find("v1.33.0+troupe-") != std::string::npos);
}
