// The Unix socket and the console behind it.
#include "server/connections/local_socket.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "server/connections/http_server.hpp"
#include "server/console/handlers/local_admin.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::server;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// The whole answer to one request.
std::string ask(const std::filesystem::path& file, const std::string& path) {
  const auto socket = connect_to(file);
  INFO((socket ? "" : socket.error()));
  REQUIRE(socket);
  const auto request = "GET " + path + " HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
  REQUIRE(::send(*socket, request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  std::string answer;
  char part[4096];
  for (ssize_t got = 0; (got = ::recv(*socket, part, sizeof part, 0)) > 0;)
    answer.append(part, static_cast<std::size_t>(got));
  ::close(*socket);
  return answer;
}

struct local_server {
  test::scratch_folder folder;
  std::filesystem::path file = folder.path() / console_socket;
  routes site;
  local_admin filter{site};
  std::unique_ptr<http_server> http = std::make_unique<http_server>(http_options{});
};

}  // namespace

TEST_CASE("only users who may open the socket's file are served") {
  local_server t;
  t.site.on("/console/who", [](const request_ptr& request, const responder& answer) {
    answer.respond(text_response(request->user->name + " from " + request->connection->peer));
  });
  REQUIRE(t.http->listen_locally(t.file, t.filter));
  const auto mode = std::filesystem::status(t.file).permissions();
  CHECK(mode == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK_THAT(ask(t.file, "/console/who"),
             StartsWith("HTTP/1.1 200") && Contains("local-admin from this machine"));
  SECTION("but for the console") {
    t.site.on("/api/v1/pods", [](const request_ptr&, const responder& answer) {
      answer.respond(text_response("pods"));
    });
    CHECK_THAT(ask(t.file, "/api/v1/pods"), StartsWith("HTTP/1.1 404"));
    CHECK_THAT(ask(t.file, "/consoles"), StartsWith("HTTP/1.1 404"));
  }
  SECTION("until it ends, which takes the file away") {
    t.http.reset();
    CHECK_FALSE(std::filesystem::exists(t.file));
    CHECK_THAT(connect_to(t.file).error(), Contains("No such file"));
  }
}

TEST_CASE("a socket that a killed node left is replaced, any other file is not") {
  local_server t;
  SECTION("a socket") {
    const auto left = listen_at(t.file);
    REQUIRE(left);
    ::close(*left);
    CHECK_THAT(connect_to(t.file).error(), Contains("Connection refused"));
    CHECK(t.http->listen_locally(t.file, t.filter));
    CHECK_THAT(ask(t.file, "/console/nothing"), StartsWith("HTTP/1.1 404"));
  }
  SECTION("a file") {
    t.folder.write(console_socket, "precious");
    const auto refused = t.http->listen_locally(t.file, t.filter);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error(), Contains(t.file.string()) && Contains("in use"));
    CHECK(std::filesystem::file_size(t.file) == 8);
  }
}

TEST_CASE("a socket's path may be longer than the kernel takes") {
  local_server t;
  const auto deep = t.folder.path() / std::string(120, 'a') / std::string(120, 'b');
  std::filesystem::create_directories(deep);
  REQUIRE(t.http->listen_locally(deep / console_socket, t.filter));
  CHECK_THAT(ask(deep / console_socket, "/console/nothing"), StartsWith("HTTP/1.1 404"));
  CHECK_THAT(t.http->listen_locally(t.folder.path() / "none" / console_socket, t.filter).error(),
             Contains("No such file"));
  CHECK_THAT(connect_to(deep / std::string(120, 'c')).error(), Contains("too long"));
}
