// An HTTPS server that issues node certificates as its test configures: of any age, late, or none.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/connections/http_server.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/credentials/x509.hpp"
#include "server/http/status.hpp"
#include "server/http/version.hpp"
#include "server/join/flat_json.hpp"
#include "tools/join/credentials.hpp"
#include "tools/joined_plane.hpp"

namespace troupe::tools::test {

class small_authority final : public server::handler {
 public:
  // Without `same`: of an authority of its own.
  explicit small_authority(const small_authority* same = nullptr)
      : own_{same != nullptr
                 ? same->own_
                 : must(server::x509::make_authority(
                       "a", around_now(std::chrono::hours{24}, std::chrono::hours{24})))},
        server_{must(server::x509::issue(
            own_,
            {"s", {}, {"127.0.0.1"}, around_now(std::chrono::hours{1}, std::chrono::hours{1})}))} {
    identity_ = must(server::tls_identity::make(
        {server_.certificate + own_.certificate, server_.private_key, own_.certificate}));
    where_ = must(http_.listen({"127.0.0.1", 0}, *this, identity_.get()));
  }
  ~small_authority() override { http_.stop(); }

  static server::x509::validity around_now(std::chrono::minutes before,
                                           std::chrono::minutes after) {
    const auto now = std::chrono::system_clock::now();
    return {now - before, now + after};
  }

  // The responses to the next requests, in order; the last one repeats. Nullopt: a refusal.
  void will_give(std::vector<std::optional<server::x509::validity>> validities) {
    const std::lock_guard lock{mutex_};
    answers_ = std::move(validities);
  }
  std::vector<std::chrono::steady_clock::time_point> asked_at() const {
    const std::lock_guard lock{mutex_};
    return asked_at_;
  }

  void serve(server::request_ptr request, server::responder answer) override {
    if (request->path == "/version") return answer.respond(server::version_response());
    const std::lock_guard lock{mutex_};
    const auto valid = answers_.at(std::min(asked_at_.size(), answers_.size() - 1));
    asked_at_.push_back(std::chrono::steady_clock::now());
    if (!valid) return answer.respond(server::status_response(503, "ServiceUnavailable", "busy"));
    const auto body = server::read_flat_json(request->content).value();
    const auto csr = server::x509::read_request(server::member(body, "certificateRequest")).value();
    server::response made;
    made.status = 201;
    made.content_type = "application/json";
    server::flat_json said{{"certificate", certify(csr.public_key, *valid)},
                           {"certificateAuthority", own_.certificate},
                           {"linkAddress", "elsewhere:1"},
                           {"clusterId", "c"}};
    if (spoil) spoil(said, csr.public_key);
    made.content.add(server::write_flat_json(said));
    answer.respond(std::move(made));
  }

  std::string address() const { return server::to_string(where_); }
  std::string hash() const { return must(server::x509::key_hash(own_.certificate)); }

  // Changes the response to a certificate request with that key.
  std::function<void(server::flat_json& said, const std::string& public_key)> spoil;

  joined_credentials given(server::x509::validity valid) const {
    const auto made = server::x509::issue(own_, subject(valid)).value();
    return {.node_name = "n0",
            .cluster_id = "c",
            .api_address = server::to_string(where_),
            .link_address = "127.0.0.1:7443",
            .certificate = made.certificate,
            .private_key = made.private_key,
            .authority = own_.certificate};
  }

 private:
  static server::x509::leaf subject(server::x509::validity valid) {
    return {"system:node:n0", {"system:nodes"}, {}, valid};
  }
  std::string certify(const std::string& public_key, server::x509::validity valid) const {
    return server::x509::certify(own_, subject(valid), public_key).value();
  }

  const server::x509::identity own_, server_;
  std::unique_ptr<server::tls_identity> identity_;
  mutable std::mutex mutex_;
  std::vector<std::optional<server::x509::validity>> answers_;
  std::vector<std::chrono::steady_clock::time_point> asked_at_;
  server::http_server http_{{}};
  server::endpoint where_;
};

}  // namespace troupe::tools::test
