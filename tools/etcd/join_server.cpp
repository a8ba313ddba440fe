#include "tools/etcd/join_server.hpp"

#include <spdlog/spdlog.h>

#include "runtime/worker_pool.hpp"
#include "server/connections/http_server.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/http/http.hpp"
#include "server/http/status.hpp"
#include "server/http/version.hpp"
#include "server/join/flat_json.hpp"
#include "tools/etcd/defaults.hpp"
#include "tools/etcd/join_tokens.hpp"
#include "tools/etcd/member_keys.hpp"

namespace troupe::tools {

namespace {

constexpr std::string_view bearer = "Bearer ";

// Counts refusals, so that a flood of them does not fill the log. Used by one thread.
class refusal_count {
 public:
  void add(const std::string& peer) {
    ++since_;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < etcd_defaults::refusal_period) return;
    last_ = now;
    spdlog::warn(
        "etcd: {} requested the members' keys with an unknown or expired token; {} more such "
        "requests since the last such line",
        peer, since_ - 1);
    since_ = 0;
  }

 private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now() - etcd_defaults::refusal_period;
  std::uint64_t since_ = 0;
};

server::response answer_to(const std::filesystem::path& data_dir, const std::string& token,
                           const std::string& peer, refusal_count& refusals) {
  const auto sealed = sealed_for(data_dir, token, std::chrono::system_clock::now());
  if (sealed.empty()) {
    refusals.add(peer);
    return server::status_response(401, "Unauthorized", "the token is unknown or expired");
  }
  spdlog::info("etcd: the members' keys were sent, encrypted, to {}", peer);
  server::response made;
  made.content_type = "application/json";
  made.content.add(server::write_flat_json({{"bundle", sealed}}));
  return made;
}

server::http_options small_server() {
  server::http_options options;
  options.io_threads = 1;
  options.body_limit_bytes = etcd_defaults::file_bytes;
  return options;
}

}  // namespace

struct join_server::impl final : server::handler {
  explicit impl(std::filesystem::path folder) : data_dir{std::move(folder)} {}
  ~impl() override { http.stop(); }

  void serve(server::request_ptr request, server::responder answer) override {
    if (request->path == "/version") return answer.respond(server::version_response());
    if (request->path != member_join_path || request->method != server::http_method::post)
      return answer.respond(server::status_response(404, "NotFound", "nothing is there"));
    std::string token{request->headers.get("authorization")};
    if (token.starts_with(bearer)) token.erase(0, bearer.size());
    // Reading the token's file would block a connection thread.
    auto later = std::make_shared<server::responder>(std::move(answer));
    const std::string peer{request->connection ? request->connection->peer : ""};
    if (!disk.post([this, later, token, peer] {
          later->respond(answer_to(data_dir, token, peer, refusals));
        }))
      later->respond(
          server::status_response(503, "ServiceUnavailable", "too many requests at once"));
  }

  const std::filesystem::path data_dir;
  refusal_count refusals;  // used by the thread of `disk`
  std::unique_ptr<server::tls_identity> identity;
  server::http_server http{small_server()};
  runtime::worker_pool disk{"etcd tokens", 1, etcd_defaults::join_queue};
};

join_server::join_server(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
join_server::~join_server() = default;

tl::expected<std::unique_ptr<join_server>, std::string> join_server::listen(
    const std::filesystem::path& data_dir, const server::endpoint& at, const member_keys& keys) {
  auto made = std::make_unique<impl>(data_dir);
  auto identity = server::tls_identity::make(keys.server());
  if (!identity) return tl::make_unexpected(identity.error());
  made->identity = std::move(*identity);
  if (auto listens = made->http.listen(at, *made, made->identity.get()); !listens)
    return tl::make_unexpected(listens.error());
  return std::unique_ptr<join_server>{new join_server{std::move(made)}};
}

tl::expected<void, std::string> join_server::replace(const member_keys& keys) {
  return impl_->identity->replace(keys.server());
}

}  // namespace troupe::tools
