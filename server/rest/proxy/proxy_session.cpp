#include "server/rest/proxy/proxy_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "server/defaults.hpp"
#include "server/http/status.hpp"
#include "server/http/upgrade.hpp"
#include "server/rest/proxy/backend_request.hpp"
#include "server/rest/proxy/defaults.hpp"
#include "server/streams/defaults.hpp"

namespace troupe::server {

proxy_session::proxy_session(call_ptr call, proxy_target target, proxied_request request)
    : call_{std::move(call)},
      request_{std::move(request)},
      connection_{std::move(target)},
      parser_{call_->request->method == http_method::head} {}

proxy_session::~proxy_session() {
  out_.cut();
  tunnel_.close();
}

const runtime::behavior& proxy_session::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&proxy_session::on_client_bytes, &proxy_session::on_client_writable,
                        &proxy_session::on_client_closed, &proxy_session::on_opened,
                        &proxy_session::on_read, &proxy_session::on_written);
  return table;
}

void proxy_session::started() {
  output_ = request_.head;
  connection_.open(self());
  late_ = after(defaults::proxy_connect, [this] { fail("i/o timeout"); });
  gone_ = every(defaults::proxy_gone_check_period, [this] {
    if (call_->gone()) stop();
  });
  idle_ = every(defaults::stream_idle, [this] {
    if (!std::exchange(active_, false)) fail("nothing came for a long time");
  });
  if (!call_->request->long_running)
    limit_ = after(defaults::request_timeout, [this] { fail("context deadline exceeded"); });
}

std::string proxy_session::describe() const {
  return fmt::format("user: {}\nport: {}\ntls: {}\ntunnel: {}\nwaitsForClient: {}\n",
                     call_->request->user ? call_->request->user->name : "",
                     connection_.target().host, connection_.target().tls, tunnel_.open(), full_);
}

// -- from the client ------------------------------------------------------------------------------

void proxy_session::on_client_bytes(const client_bytes& m) {
  active_ = true;
  if (refuses_input_) return tunnel_.consumed(m.bytes.size());
  output_ += m.bytes;
  write();
}

void proxy_session::on_client_writable(const client_writable&) {
  full_ = false;
  read();
}

void proxy_session::on_client_closed(const client_closed&) {
  stop();
}

// -- the port -------------------------------------------------------------------------------------

void proxy_session::on_opened(const backend_opened& m) {
  if (const auto problem = connection_.take(m)) return fail(*problem);
  if (connection_.ready()) late_.cancel();
  read();
  write();
}

void proxy_session::read() {
  if (!full_ && !finished_) connection_.read();
}

void proxy_session::on_read(const backend_read& m) {
  active_ = true;
  auto got = connection_.take(m);
  if (finished_) return;
  if (connection_.ready()) late_.cancel();
  if (!got.bytes.empty()) take(std::move(got.bytes));
  if (got.problem) return fail(*got.problem);
  if (got.ended) return end();
  write();
  read();
}

// Moves the next piece of the body to `output_` when the previous one has been written.
void proxy_session::refill() {
  const auto& body = call_->request->content;
  if (!output_.empty() || sent_body_ == body.size()) return;
  output_ = body.substr(sent_body_, defaults::proxy_piece_bytes);
  sent_body_ += output_.size();
}

void proxy_session::write() {
  if (finished_ || !connection_.idle()) return;
  if (!connection_.ready()) return connection_.write({});
  refill();
  in_flight_ = tunnel_.open() ? output_.size() : 0;
  connection_.write(std::exchange(output_, {}));
}

void proxy_session::on_written(const backend_written& m) {
  tunnel_.consumed(std::exchange(in_flight_, 0));
  // The port may have responded without reading everything: the response counts.
  if (!connection_.take(m)) refuses_input_ = true;
  write();
}

void proxy_session::take(std::string bytes) {
  if (tunnel_.open()) return pass(std::move(bytes));
  if (const auto wrong = parser_.feed(bytes)) return fail(*wrong);
  if (parser_.head() == nullptr) return;
  if (!begun_) answer(*parser_.head());
  if (auto body = parser_.take_body(); !body.empty()) pass(std::move(body));
  if (parser_.complete()) finish(true);
}

void proxy_session::answer(const backend_head& head) {
  if (head.status == 101 && !is_upgrade(*call_->request))
    return fail("it changed the protocol unasked");
  begun_ = true;
  gone_.cancel();
  auto answer = client_head(head, *call_->request, request_.path, connection_.target().host);
  if (head.status == 101) {
    limit_.cancel();
    tunnel_ = client_pipe::open_tunnel(
        call_->take_over(101), call_->request->headers.get("upgrade"), std::move(answer), self());
    return;
  }
  out_ = call_->take_over(head.status)
             .start_stream(std::move(answer),
                           {.writable = [to = self()] { to.tell(client_writable{}); },
                            .closed = [to = self()] { to.tell(client_closed{}); }});
}

void proxy_session::pass(std::string bytes) {
  const bool room = tunnel_.open() ? tunnel_.write(std::move(bytes)) : out_.write(std::move(bytes));
  full_ = full_ || !room;
}

void proxy_session::end() {
  if (finished_) return;
  if (tunnel_.open()) return finish(true);
  if (const auto missing = parser_.end()) return fail(*missing);
  finish(true);
}

void proxy_session::fail(const std::string& reason) {
  if (!std::exchange(begun_, true)) {
    auto text = "error trying to reach service: " + reason;
    if (request_.plain_errors)
      call_->answer(plain_error(503, text));
    else
      call_->fail(api::service_unavailable(std::move(text)));
  }
  finish(false);
}

void proxy_session::finish(bool whole) {
  if (std::exchange(finished_, true)) return;
  if (whole)
    out_.close();
  else
    out_.cut();
  tunnel_.close();
  stop();
}

}  // namespace troupe::server
