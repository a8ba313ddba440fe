#include "server/fixture.hpp"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <thread>

#include "server/status.hpp"

namespace troupe::server::testing {
namespace {

// What the tests provoke on purpose is no news.
[[maybe_unused]] const bool quiet = [] {
  spdlog::set_level(spdlog::level::critical);
  return true;
}();

}  // namespace

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

const test_identities& test_identities::get() {
  static const test_identities made = [] {
    const auto now = std::chrono::system_clock::now();
    const x509::validity valid{now - std::chrono::hours{1}, now + std::chrono::hours{24}};
    test_identities all;
    all.authority = x509::make_authority("test authority", valid).value();
    all.server =
        x509::issue(all.authority, {"server", {}, {"localhost", "127.0.0.1", "::1"}, valid})
            .value();
    all.client =
        x509::issue(all.authority, {"alice", {"editors", "system:masters"}, {}, valid}).value();
    return all;
  }();
  return made;
}

response text_response(std::string text, int status) {
  response answer;
  answer.status = status;
  answer.content_type = "text/plain";
  answer.content.add(std::move(text));
  return answer;
}

routes::routes() {
  on("/hello", [](auto&, auto& answer) { answer.respond(text_response("Hello, world\n")); });
  on("/echo",
     [](auto& what, auto& answer) { answer.respond(text_response(std::move(what->content))); });
  on("/late", [this](auto& what, auto& answer) {
    const std::lock_guard lock{mutex_};
    threads_.emplace_back(
        [answer, what] { answer.respond(text_response("late " + what->query.raw())); });
  });
  on("/never", [this](auto&, auto& answer) {
    const std::lock_guard lock{mutex_};
    kept_.push_back(answer);
  });
}

routes::~routes() {
  for (auto& thread : threads_)
    thread.join();
}

std::optional<response> routes::admit(request& head) {
  return admission ? admission(head) : std::nullopt;
}

void routes::serve(request_ptr what, responder answer) {
  ++served;
  const auto found = routes_.find(what->path);
  if (found == routes_.end())
    return answer.respond(status_response(404, "NotFound", "no such path"));
  found->second(what, answer);
}

test_server::test_server(http_options options, listening how) : how_{how} {
  server_ = std::make_unique<http_server>(options);
  if (how == listening::tls)
    identity_ = std::move(tls_identity::make(test_identities::get().material()).value());
  where_ = server_->listen({"127.0.0.1", 0}, site, identity_.get()).value();
}

test::wire_options test_server::client() const {
  test::wire_options options;
  options.port = where_.port;
  options.tls = how_ == listening::tls;
  if (options.tls) options.authority = test_identities::get().authority.certificate;
  return options;
}

test::wire_options test_server::client_with_certificate() const {
  auto options = client();
  options.certificate = test_identities::get().client.certificate;
  options.private_key = test_identities::get().client.private_key;
  return options;
}

}  // namespace troupe::server::testing
