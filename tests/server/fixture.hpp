// A server on a port of its own with a handler made of functions, and a client's options for it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/http.hpp"
#include "server/http_server.hpp"
#include "server/tls_identity.hpp"
#include "server/x509.hpp"
#include "support/http2_client.hpp"
#include "support/http_client.hpp"

namespace troupe::server::testing {

// True as soon as `holds` does; false when it does not before the time is over.
bool eventually(const std::function<bool()>& holds,
                std::chrono::milliseconds within = std::chrono::seconds{10});

// One authority with a server's and a client's certificate, made once for all tests.
struct test_identities {
  x509::identity authority, server, client;
  static const test_identities& get();
  tls_material material() const {
    return {server.certificate, server.private_key, authority.certificate};
  }
};

// Serves each path by a function; others get 404. Knows some from the start: /hello, /echo (the
// body), /late (answers from another thread), /never (keeps the responder until the handler goes).
class routes final : public handler {
 public:
  using route = std::function<void(const request_ptr&, const responder&)>;
  routes();
  ~routes() override;

  void on(const std::string& path, route serve) { routes_[path] = std::move(serve); }
  std::function<std::optional<response>(request&)> admission;

  std::optional<response> admit(request& head) override;
  void serve(request_ptr what, responder answer) override;
  std::atomic<int> served{0};

 private:
  std::map<std::string, route> routes_;
  std::mutex mutex_;
  std::vector<responder> kept_;
  std::vector<std::thread> threads_;
};

response text_response(std::string text, int status = 200);

enum class listening { tls, plain };

class test_server {
 public:
  explicit test_server(http_options options = {}, listening how = listening::tls);

  routes site;
  // For a client with TLS that checks the server's certificate, or a plain one.
  test::wire_options client() const;
  test::wire_options client_with_certificate() const;
  http_server& server() { return *server_; }
  tls_identity& identity() { return *identity_; }
  std::uint16_t port() const { return where_.port; }

 private:
  const listening how_;
  std::unique_ptr<tls_identity> identity_;
  std::unique_ptr<http_server> server_;
  endpoint where_;
};

}  // namespace troupe::server::testing
