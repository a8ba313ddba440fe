// Probes over real sockets and in real containers.
#include "actors/kubelet/health/health_checker.hpp"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "actors/kubelet/health/http_check.hpp"
#include "actors/kubelet/running_container.hpp"
#include "runtime/unique_fd.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;
using test::running_container;

namespace {

// Answers each connection with the result of `reply` for the request; if that is empty it stays
// silent until it ends.
class tiny_server {
 public:
  using replier = std::function<std::string(const std::string& request)>;

  explicit tiny_server(replier reply, bool tls = false) : reply_{std::move(reply)} {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listening_ = runtime::unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at);
    ::listen(listening_.get(), 8);
    socklen_t size = sizeof at;
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    if (tls) make_context();
    thread_ = std::thread{[this] { serve(); }};
  }
  ~tiny_server() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
    ::SSL_CTX_free(context_);
  }
  int port() const { return port_; }

 private:
  void make_context() {
    context_ = ::SSL_CTX_new(::TLS_server_method());
    EVP_PKEY* key = ::EVP_EC_gen("P-256");
    X509* certificate = ::X509_new();
    ::X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    ::X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    ::X509_set_pubkey(certificate, key);
    ::X509_sign(certificate, key, ::EVP_sha256());
    ::SSL_CTX_use_certificate(context_, certificate);
    ::SSL_CTX_use_PrivateKey(context_, key);
    ::X509_free(certificate);
    ::EVP_PKEY_free(key);
  }
  void serve() {
    for (;;) {
      runtime::unique_fd client{::accept(listening_.get(), nullptr, nullptr)};
      if (!client) return;
      char request[4096];
      SSL* session = context_ != nullptr ? ::SSL_new(context_) : nullptr;
      if (session != nullptr) {
        ::SSL_set_fd(session, client.get());
        if (::SSL_accept(session) > 0) {
          const int n = ::SSL_read(session, request, sizeof request);
          const auto reply = reply_({request, static_cast<std::size_t>(std::max(n, 0))});
          ::SSL_write(session, reply.data(), static_cast<int>(reply.size()));
        }
        ::SSL_free(session);
        continue;
      }
      const auto n = ::recv(client.get(), request, sizeof request, 0);
      const auto reply = reply_({request, static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
      ::send(client.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
      if (reply.empty()) silent_.push_back(std::move(client));
    }
  }

  replier reply_;
  runtime::unique_fd listening_;
  std::vector<runtime::unique_fd> silent_;
  int port_ = 0;
  SSL_CTX* context_ = nullptr;
  std::thread thread_;
};

http_get_action get(int port, std::string path = "/") {
  return {.host = "127.0.0.1", .port = port, .path = std::move(path)};
}

}  // namespace

TEST_CASE("a status from 200 to 399 is a success", "[kubelet]") {
  std::string status = "200 OK";
  tiny_server server{[&](const std::string&) { return "HTTP/1.1 " + status + "\r\n\r\nbody"; }};
  for (const auto& [code, well] : {std::pair{"200 OK", true}, std::pair{"399 Odd", true},
                                   std::pair{"400 Bad", false}, std::pair{"503 No", false}}) {
    status = code;
    CAPTURE(code);
    const auto answer = http_check(get(server.port()), 60s);
    CHECK((answer.status == check_status::success) == well);
    if (!well)
      CHECK(answer.message ==
            "HTTP probe failed with statuscode: " + std::string{code}.substr(0, 3));
  }
}

TEST_CASE("redirects are followed on the same host, and not for ever", "[kubelet]") {
  tiny_server server{[](const std::string& request) -> std::string {
    if (request.starts_with("GET /first ")) return "HTTP/1.1 302 x\r\nLocation: /bad\r\n\r\n";
    if (request.starts_with("GET /away "))
      return "HTTP/1.1 302 x\r\nLocation: http://elsewhere.example/\r\n\r\ngone";
    if (request.starts_with("GET /loop ")) return "HTTP/1.1 302 x\r\nLocation: /loop\r\n\r\n";
    return "HTTP/1.1 500 x\r\n\r\n";
  }};
  CHECK(http_check(get(server.port(), "/first"), 60s).message ==
        "HTTP probe failed with statuscode: 500");
  const auto away = http_check(get(server.port(), "/away"), 60s);
  CHECK(away.status == check_status::success);
  CHECK(away.warning);
  CHECK(away.message == "Probe terminated redirects, Response body: gone");
  CHECK(http_check(get(server.port(), "/loop"), 60s).message == "stopped after 10 redirects");
}

TEST_CASE("HTTPS is asked without looking at the certificate", "[kubelet]") {
  tiny_server server{[](const std::string&) { return "HTTP/1.1 200 OK\r\n\r\nbody"; }, true};
  auto check = get(server.port());
  check.tls = true;
  const auto answer = http_check(check, 60s);
  CAPTURE(answer.message);
  CHECK(answer.status == check_status::success);
}

TEST_CASE("a hook's request is well whatever is answered, in plain HTTP too", "[kubelet]") {
  tiny_server server{[](const std::string& request) -> std::string {
    return request.starts_with("GET ") ? "HTTP/1.1 404 No\r\n\r\n"
                                       : "HTTP/1.0 400 Bad Request\r\n\r\nno TLS here\n";
  }};
  api::core::v1::LifecycleHandler handler;
  auto& get = *handler.mutable_http_get();
  get.mutable_port()->set_int_val(server.port());
  for (const char* scheme : {"HTTP", "HTTPS"}) {
    CAPTURE(scheme);
    get.set_scheme(scheme);
    const auto asked = std::get<http_get_action>(*health_check_of(handler, {}, "127.0.0.1"));
    const auto answer = http_check(asked, 60s);
    CAPTURE(answer.message);
    CHECK(answer.status == check_status::success);
  }
  // A probe of the same container does not.
  api::core::v1::ProbeHandler probe;
  *probe.mutable_http_get() = get;
  const auto asked = std::get<http_get_action>(*health_check_of(probe, {}, "127.0.0.1"));
  const auto answer = http_check(asked, 60s);
  CHECK(answer.status == check_status::failure);
  CHECK_THAT(answer.message, Catch::EndsWith("server gave HTTP response to HTTPS client"));
}

TEST_CASE("a check without an answer in time fails", "[kubelet]") {
  int closed = 0;
  {
    tiny_server silent{[](const std::string&) { return std::string{}; }};
    const auto begun = std::chrono::steady_clock::now();
    const auto answer = http_check(get(silent.port()), 200ms);
    const auto given_up = std::chrono::steady_clock::now();
    CHECK(answer.status == check_status::failure);
    CHECK_THAT(answer.message,
               Catch::EndsWith("/\": context deadline exceeded (Client.Timeout exceeded while "
                               "awaiting headers)"));
    const auto second = std::chrono::steady_clock::now();
    CHECK(tcp_check({"127.0.0.1", silent.port()}, 60s).status == check_status::success);
    const auto usual = std::chrono::steady_clock::now() - second;
    CHECK(given_up - begun < 5s + 50 * usual);
    closed = silent.port();
  }
  CHECK(http_check(get(closed), 60s).status == check_status::failure);
  const auto refused = tcp_check({"127.0.0.1", closed}, 60s);
  CHECK(refused.status == check_status::failure);
  CHECK_THAT(refused.message, Catch::EndsWith(": connect: connection refused"));
  CHECK(tcp_check({"no.such.host.invalid", 1}, 1s).status == check_status::failure);
}

TEST_CASE("a command in a container has its environment, place and processes", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const auto result = container.exec("echo $COLOUR; pwd; echo oops >&2; exit 3");
  CHECK(result.code == 3);
  CHECK(result.output == "blue\n/tmp\noops\n");
  struct stat own {
  }, its{};
  const auto link = "/proc/" + std::to_string(container.process().pid) + "/ns/pid";
  if (::stat("/proc/self/ns/pid", &own) == 0 && ::stat(link.c_str(), &its) == 0 &&
      own.st_ino != its.st_ino) {
    CHECK(container.exec("readlink /proc/self/ns/pid").output ==
          "pid:[" + std::to_string(its.st_ino) + "]\n");
    // The container's process is the child of the first process in there.
    CHECK(container.exec("cat /proc/2/comm").output == "sleep\n");
  }
  CHECK(container.exec("cat").output.empty());
  CHECK(container.exec("head -c 100000 /dev/zero").output.size() == 10'240);
  CHECK(container.run({"/no/such"}).code == 127);
}

TEST_CASE("a command that takes too long is ended", "[kubelet]") {
  running_container container{"exec sleep 300"};
  auto begun = std::chrono::steady_clock::now();
  CHECK(container.exec("echo begun").output == "begun\n");
  const auto usual = std::chrono::steady_clock::now() - begun;
  begun += usual;
  // Enough for the first of the two.
  const auto enough = 200ms + 20 * usual;
  const auto result = container.exec("echo begun; sleep 300", enough);
  CHECK(result.timed_out);
  CHECK(result.output == "begun\n");
  CHECK(container.exec("exec cat /dev/zero", 200ms).timed_out);
  CHECK(std::chrono::steady_clock::now() - begun < 10s + 100 * usual);
}

TEST_CASE("a check whose command takes too long fails, and names the command", "[kubelet]") {
  running_container container{"exec sleep 300"};
  health_checker checks{"test", 1, container.containers};
  std::promise<health_result> answer;
  auto result = answer.get_future();
  checks.run(container.id, exec_action{{"/bin/sh", "-c", "exec sleep \"300\""}}, 200ms,
             [&](health_result found) { answer.set_value(std::move(found)); });
  REQUIRE(result.wait_for(60s) == std::future_status::ready);
  const auto found = result.get();
  CHECK(found.status == check_status::failure);
  CHECK(found.message == "command \"/bin/sh -c exec sleep \\\"300\\\"\" timed out");
}

TEST_CASE("a checker may be destroyed while its checks have no answer", "[kubelet]") {
  auto begun = std::chrono::steady_clock::now();
  auto container = std::make_unique<running_container>("exec sleep 300");
  const auto usual = std::chrono::steady_clock::now() - begun;
  tiny_server silent{[](const std::string&) { return std::string{}; }};
  begun = std::chrono::steady_clock::now();
  std::atomic<int> failed{0}, answered{0};
  {
    health_checker checks{"test", 1, container->containers};
    const auto done = [&](const health_result& answer) {
      failed += answer.status == check_status::success ? 0 : 1;
      ++answered;
    };
    checks.run(container->id, exec_action{{"/bin/sleep", "300"}}, 600s, done);
    checks.run(container->id, get(silent.port()), 600s, done);
    checks.run(container->id, exec_action{{"/bin/sleep", "300"}}, 600s, done);
  }
  CHECK(failed == 1);
  // Commands end with their container.
  container.reset();
  CHECK(answered == failed);
  CHECK(std::chrono::steady_clock::now() - begun < 10s + 50 * usual);
}

TEST_CASE("the number of concurrent commands is limited, and the others wait", "[kubelet]") {
  running_container container{"exec sleep 300"};
  health_checker checks{"test", 2, container.containers};
  const auto log = container.place.path() / "log";
  std::mutex mutex;
  std::condition_variable changed;
  int answered = 0;
  // Each leaves a file while it runs.
  const std::string script = "echo > " + log.string() + ".$$; ls " + log.string() +
                             ".* | wc -l; rm " + log.string() + ".$$";
  int most = 0;
  for (int i = 0; i < 12; ++i)
    checks.run(container.id, exec_action{{"/bin/sh", "-c", script}}, 60s,
               [&](const health_result& answer) {
                 const std::lock_guard guard{mutex};
                 most = std::max(most, std::atoi(answer.message.c_str()));
                 ++answered;
                 changed.notify_all();
               });
  std::unique_lock lock{mutex};
  CHECK(changed.wait_for(lock, 60s, [&] { return answered == 12; }));
  CHECK(most >= 1);
  CHECK(most <= 2);
}

TEST_CASE("no command runs in a container that has ended", "[kubelet]") {
  running_container container{"exec sleep 300"};
  auto other = container.id;
  other.back() = '7';
  std::swap(other, container.id);
  const auto result = container.run({"/bin/true"});
  std::swap(other, container.id);
  CHECK(result.code == 126);
  CHECK(result.output == "the container does not run\n");
}

}  // namespace troupe::actors
