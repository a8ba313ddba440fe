// A machine that cannot join reports it within five seconds, in one line with reason and remedy.
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <tuple>

#include "build_paths.hpp"
#include "runtime/unique_fd.hpp"
#include "server/connections/http_server.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/credentials/x509.hpp"
#include "server/http/status.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "tools/child.hpp"
#include "tools/console_node.hpp"
#include "tools/join/defaults.hpp"
#include "tools/join/server_trust.hpp"

using namespace troupe;
using namespace troupe::tools::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::scratch_folder;

namespace {

const std::string some_hash = "sha256:" + std::string(64, 'a');
const std::string some_token = "abc123.0123456789abcdef";

struct line {
  std::string address, token, hash;
};

line line_of(const console_node& node) {
  const auto made = program({"token", "create", "--data-dir", node.folder()});
  INFO(made.err);
  REQUIRE(made.code == 0);
  std::istringstream words{made.out};
  std::string word, address, token, hash;
  words >> word >> word >> address >> word >> token >> word >> hash;
  return {address, token, hash};
}

process_result join(const line& given, const std::filesystem::path& data) {
  std::vector<std::string> all{"join",     given.address, "--token",     given.token, "--ca-hash",
                               given.hash, "--data-dir",  data.string(), "--runtime", "simulated"};
  const auto begin = std::chrono::steady_clock::now();
  auto result = program(all);
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took < promised(5s));
  return result;
}

// One line on stderr, nothing on stdout, and no part of the token.
void check_refusal(const process_result& got, const std::string& reason,
                   const std::string& remedy) {
  INFO(got.err);
  CHECK(got.code == 1);
  CHECK(got.out.empty());
  CHECK(std::count(got.err.begin(), got.err.end(), '\n') == 1);
  CHECK_THAT(got.err, StartsWith("troupe: ") && Contains(reason) && Contains(remedy));
  CHECK_THAT(got.err, !Contains("0123456789abcdef"));
}

// A listening socket that sends a fixed text to each connection; if empty, it is silent.
class plain_listener {
 public:
  explicit plain_listener(std::string says) : says_{std::move(says)} {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(socket_, 16) == 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    if (!says_.empty()) thread_ = std::thread{[this] { serve(); }};
  }
  ~plain_listener() {
    ::shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(socket_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void serve() {
    for (;;) {
      const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      char part[512];
      if (::recv(peer, part, sizeof part, 0) > 0) ::send(peer, says_.data(), says_.size(), 0);
      ::close(peer);
    }
  }

  const std::string says_;
  int socket_;
  int port_ = 0;
  std::thread thread_;
};

// An HTTPS server with an authority of its own, with this response to a version request;
// empty: it does not know the path.
class tls_listener final : public server::handler {
 public:
  tls_listener(std::string version, const std::string& name, server::x509::validity valid)
      : version_{std::move(version)} {
    const auto now = std::chrono::system_clock::now();
    const auto authority = server::x509::make_authority("a", {now - 1h, now + 1h}).value();
    const auto own = server::x509::issue(authority, {"s", {}, {name}, valid}).value();
    hash_ = server::x509::key_hash(authority.certificate).value();
    identity_ = server::tls_identity::make({own.certificate + authority.certificate,
                                            own.private_key, authority.certificate})
                    .value();
    where_ = http_.listen({"127.0.0.1", 0}, *this, identity_.get()).value();
  }
  ~tls_listener() override { http_.stop(); }

  void serve(server::request_ptr, server::responder answer) override {
    if (version_.empty())
      return answer.respond(server::status_response(404, "NotFound", "another server"));
    server::response said;
    said.content.add(version_);
    answer.respond(std::move(said));
  }
  line joining() const { return {server::to_string(where_), some_token, hash_}; }

 private:
  const std::string version_;
  std::string hash_;
  std::unique_ptr<server::tls_identity> identity_;
  server::http_server http_{{}};
  server::endpoint where_;
};

server::x509::validity around_now() {
  const auto now = std::chrono::system_clock::now();
  return {now - 1h, now + 1h};
}

// Looks like a Troupe server, but has another clock. One request a connection.
class other_clock {
 public:
  explicit other_clock(std::chrono::seconds ahead) : date_{date_of(ahead)} {
    const auto authority = server::x509::make_authority("a", around_now()).value();
    const auto own = server::x509::issue(authority, {"s", {}, {"127.0.0.1"}, around_now()}).value();
    hash_ = server::x509::key_hash(authority.certificate).value();
    context_ = server::tls_identity::make({own.certificate + authority.certificate, own.private_key,
                                           authority.certificate})
                   .value()
                   ->context();
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(socket_, 16) == 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread{[this] { serve(); }};
  }
  ~other_clock() {
    end();
    ::close(socket_);
  }
  line joining() const { return {"127.0.0.1:" + std::to_string(port_), some_token, hash_}; }
  // Method and path of each request; it serves no more from here on.
  std::string requests() const {
    end();
    return requests_;
  }

 private:
  static std::string date_of(std::chrono::seconds ahead) {
    const auto then =
        std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + ahead);
    std::tm parts{};
    ::gmtime_r(&then, &parts);
    std::array<char, 40> text{};
    std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return text.data();
  }
  void end() const {
    ::shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  void serve() {
    for (;;) {
      const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      SSL* session = ::SSL_new(context_.get());
      ::SSL_set_fd(session, peer);
      std::array<char, 1024> part{};
      if (::SSL_accept(session) == 1 && ::SSL_read(session, part.data(), part.size() - 1) > 0) {
        const std::string_view request{part.data()};
        requests_ += request.substr(0, request.find(" HTTP/"));
        const auto answer = "HTTP/1.1 200 OK\r\ndate: " + date_ + "\r\n\r\nv1.33.0+troupe";
        ::SSL_write(session, answer.data(), static_cast<int>(answer.size()));
        ::SSL_shutdown(session);
      }
      ::SSL_free(session);
      ::close(peer);
    }
  }

  const std::string date_;
  std::string hash_, requests_;
  std::shared_ptr<ssl_ctx_st> context_;
  int socket_ = -1, port_ = 0;
  mutable std::thread thread_;
};

}  // namespace

TEST_CASE("a token is made with the line to join by, is listed without its secret, and deleted") {
  const console_node node;
  const auto made =
      program({"token", "create", "--data-dir", node.folder(), "--description", "a rack"});
  REQUIRE(made.code == 0);
  CHECK_THAT(made.err, Contains("loopback only") && Contains("--listen"));
  CHECK_THAT(made.out, StartsWith("troupe join " + node.server().substr(8) + " --token ") &&
                           Contains(" --ca-hash sha256:"));
  const auto token = made.out.substr(made.out.find("--token ") + 8, 23);
  const auto listed = program({"token", "list", "--data-dir", node.folder()});
  CHECK(listed.code == 0);
  CHECK_THAT(listed.out,
             Contains(token.substr(0, 6)) && Contains("a rack") && !Contains(token.substr(7)));
  const auto gone = program({"token", "delete", token.substr(0, 6), "--data-dir", node.folder()});
  CHECK(gone.code == 0);
  CHECK(program({"token", "delete", "nobody", "--data-dir", node.folder()}).code == 1);
  const scratch_folder data;
  check_refusal(join({node.server().substr(8), token, line_of(node).hash}, data.path() / "d"),
                "the token is unknown", "troupe token create");
}

TEST_CASE("a machine with a wrong hash, a wrong token or an expired one is refused") {
  const console_node node;
  const scratch_folder data;
  auto good = line_of(node);
  check_refusal(join({good.address, good.token, some_hash}, data.path() / "a"),
                "does not match --ca-hash", "troupe token create");
  check_refusal(join({good.address, some_token, good.hash}, data.path() / "b"),
                "the token is unknown or expired", "troupe token create");
  const auto made = program({"token", "create", "--data-dir", node.folder(), "--ttl", "1ms"});
  good.token = made.out.substr(made.out.find("--token ") + 8, 23);
  check_refusal(join(good, data.path() / "c"), "unknown or expired", "troupe token create");
  CHECK_FALSE(std::filesystem::exists(data.path() / "a" / "join" / "cluster.json"));
}

TEST_CASE("an address without a Troupe server is refused with the reason") {
  const scratch_folder data;
  const auto at = [&](const std::string& address) {
    return join({address, some_token, some_hash}, data.path());
  };
  check_refusal(at("127.0.0.1:1"), "nobody listens there", "is it running");
  check_refusal(at("no-such-host.invalid:6443"), "this name has no address", "use the address");
  const plain_listener http{"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"};
  check_refusal(at(http.address()), "speaks plain HTTP", "HTTPS port");
  const plain_listener other{"220 mail.example ESMTP\r\n"};
  check_refusal(at(other.address()), "is not a Troupe server", "HTTPS port");
  const plain_listener silent{""};
  check_refusal(at(silent.address()), "says nothing", "is it a Troupe server");
  for (const auto* version : {"", "v1.33.0"}) {
    const tls_listener web{version, "127.0.0.1", around_now()};
    check_refusal(join(web.joining(), data.path()), "is not a Troupe server", "joined");
  }
}

TEST_CASE("a silent name server does not delay the refusal") {
  const scratch_folder folder;
  const auto hosts = folder.path() / "resolv.conf";
  std::ofstream{hosts} << "nameserver 127.53.53.53\n";
  // Receives questions and answers none.
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(53);
  ::inet_pton(AF_INET, "127.53.53.53", &at.sin_addr);
  const runtime::unique_fd silent{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (::bind(silent.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      run({"/usr/bin/unshare", "-m", "/bin/mount", "--bind", hosts, "/etc/resolv.conf"}).code !=
          0) {
    troupe::test::skip("this user may not have a name server of its own");
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto refused =
      run({"/usr/bin/unshare", "-m", "/bin/sh", "-c",
           "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"", hosts,
           TROUPE_BINARY_DIR "/troupe", "join", "control.example:6443", "--token", some_token,
           "--ca-hash", some_hash, "--data-dir", folder.path() / "d", "--runtime", "simulated"});
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took < promised(5s));
  check_refusal(refused, "does not resolve this name", "use the address itself");
}

TEST_CASE("a server called by a name that its certificate lacks is refused with its names") {
  const scratch_folder data;
  const tls_listener elsewhere{"v1.33.0+troupe", "elsewhere.example", around_now()};
  check_refusal(join(elsewhere.joining(), data.path()), "is not for 127.0.0.1 but for elsewhere",
                "--server-names 127.0.0.1");
}

TEST_CASE("clocks that differ are refused with by how much, and the token is not sent") {
  const scratch_folder data;
  for (const auto& [offset, said] :
       {std::pair{-7200, "this machine is ahead"}, {7200, "this machine is behind"}}) {
    const other_clock server{std::chrono::seconds{offset}};
    check_refusal(join(server.joining(), data.path() / "d"), said, "NTP");
    CHECK(server.requests() == "GET /version");
  }
  const auto now = std::chrono::system_clock::now();
  for (const auto& [from, until, said] :
       {std::tuple{now + 1h, now + 2h, "not valid yet"}, {now - 2h, now - 1h, "no longer valid"}}) {
    const tls_listener server{"v1.33.0+troupe", "127.0.0.1", {from, until}};
    check_refusal(join(server.joining(), data.path() / "e"), said, "restart the node");
  }
}

TEST_CASE("a data dir in another use is refused") {
  const console_node node;
  const auto good = line_of(node);
  check_refusal(join(good, node.folder()), "belongs to a control plane", "--data-dir");
  const scratch_folder data;
  const scratch_folder held;
  std::filesystem::create_directory(held.path() / "join");
  const auto node_there = program({"node", "--data-dir", held.path().string()});
  CHECK(node_there.code == 1);
  CHECK_THAT(node_there.err, Contains("has joined a cluster") && Contains("troupe join"));
  const scratch_folder member;
  member.write("member.json", "{}");
  check_refusal(program({"node", "--data-dir", member.path().string()}),
                "belongs to a member of an etcd", "--data-dir");
  check_refusal(program({"join", "--data-dir", data.path().string()}), "has joined no cluster",
                "troupe token create");
  check_refusal(program({"leave", "--data-dir", data.path().string()}), "has joined no cluster",
                "--data-dir");
  const auto damaged = held.write("join/cluster.json", "{");
  const std::vector<std::string> leave{"leave", "--data-dir", held.path().string()};
  check_refusal(program(leave), "cluster.json", "join again with a new token");
  CHECK(std::filesystem::exists(damaged));
  auto by_force = leave;
  by_force.emplace_back("--force");
  CHECK(program(by_force).code == 0);
  CHECK_FALSE(std::filesystem::exists(damaged.parent_path()));
}

TEST_CASE("an unusable root dir is refused before any request") {
  const scratch_folder folder;
  const auto file = folder.write("file", "").string();
  check_refusal(program({"join", "127.0.0.1:1", "--token", some_token, "--ca-hash", some_hash,
                         "--data-dir", (folder.path() / "d").string(), "--root-dir", file}),
                "root dir " + file + ": is not a folder", "--root-dir");
}

TEST_CASE("a mistyped command is refused before any request") {
  const scratch_folder data;
  check_refusal(join({"127.0.0.1", some_token, some_hash}, data.path()), "is not an address",
                "HOST:PORT");
  check_refusal(join({"127.0.0.1:1", "abc", some_hash}, data.path()), "--token", "ID.SECRET");
  check_refusal(join({"127.0.0.1:1", some_token, "sha256:abc"}, data.path()), "--ca-hash",
                "64 hexadecimal digits");
}

TEST_CASE("a token and a key are not seen in the list of processes, however they are given") {
  const plain_listener silent{""};
  const scratch_folder data;
  const auto file = data.write("token", some_token + "\n");
  const auto path = std::string{TROUPE_BINARY_DIR} + "/troupe";
  const auto folder = (data.path() / "d").string();
  const auto address = silent.address();
  const auto in_variable = "TROUPE_TOKEN=" + some_token;
  const std::string key(64, 'f');
  const std::vector<std::vector<std::string>> ways{
      {"--token", some_token, "--certificate-key", key},
      {"--token=" + some_token, "--certificate-key=" + key},
      {"--token-file", file.string()},
      {}};
  for (const auto& way : ways) {
    child process{[&] {
      std::vector<std::string> all{"troupe",  "join",       address, "--ca-hash",
                                   some_hash, "--data-dir", folder};
      all.insert(all.end(), way.begin(), way.end());
      std::vector<char*> arguments;
      for (auto& each : all)
        arguments.push_back(each.data());
      arguments.push_back(nullptr);
      auto variable = in_variable;
      char* environment[] = {way.empty() ? variable.data() : nullptr, nullptr};
      ::execve(path.c_str(), arguments.data(), environment);
      return 127;
    }};
    // By now it waits for the server's response: the lock is taken after parsing the command line.
    const auto until = std::chrono::steady_clock::now() + 60s;
    const auto lock = std::filesystem::path{folder} / "node.lock";
    while (!std::filesystem::exists(lock) && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    for (const auto* name : {"cmdline", "environ"}) {
      std::ifstream in{"/proc/" + std::to_string(process.id()) + "/" + name, std::ios::binary};
      std::stringstream text;
      text << in.rdbuf();
      CAPTURE(name);
      CHECK_THAT(text.str(), !Contains("0123456789abcdef"));
      CHECK_THAT(text.str(), !Contains(key));
      if (name[0] == 'c') CHECK_THAT(text.str(), Contains("join"));
    }
    process.signal(SIGKILL);
    process.wait();
    std::filesystem::remove_all(folder);
  }
}

TEST_CASE("an address is a host and a port") {
  using tools::parse_host_and_port;
  const auto six = parse_host_and_port("[::1]:6443");
  REQUIRE(six);
  CHECK(six->host == "::1");
  CHECK(six->port == 6443);
  CHECK(parse_host_and_port("node.example:1")->host == "node.example");
  for (const auto* text : {"", ":", "a:", ":1", "a:0", "a:65536", "a:1x", "::1:6443", "a"})
    CHECK_FALSE(parse_host_and_port(text));
}
