#include "server/rest/proxy/proxy_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "server/http/upgrade.hpp"
#include "server/rest/proxy/backend_request.hpp"
#include "server/rest/proxy/defaults.hpp"
#include "server/streams/defaults.hpp"

namespace troupe::server {

proxy_session::proxy_session(call_ptr call, proxy_target target)
    : call_{std::move(call)},
      target_{std::move(target)},
      path_{path_behind(*call_->request)},
      parser_{call_->request->method == http_method::head} {}

proxy_session::~proxy_session() {
  out_.cut();
  tunnel_.close();
}

const runtime::behavior& proxy_session::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&proxy_session::on_client_bytes, &proxy_session::on_client_writable,
                        &proxy_session::on_client_closed, &proxy_session::on_opened,
                        &proxy_session::on_part_read, &proxy_session::on_written);
  return table;
}

void proxy_session::started() {
  output_ = backend_request_head(*call_->request, path_);
  if (target_.tls) tls_ = std::make_unique<tls_client>();
  target_.source->forward_port(target_.pod_uid, target_.port, [to = self()](port_result got) {
    to.tell(opened{std::make_shared<port_result>(std::move(got))});
  });
  late_ = after(defaults::proxy_connect, [this] { fail("i/o timeout"); });
  gone_ = every(defaults::proxy_gone_look, [this] {
    if (call_->gone()) stop();
  });
  idle_ = every(defaults::stream_idle, [this] {
    if (!std::exchange(active_, false)) fail("nothing came for a long time");
  });
}

std::string proxy_session::describe() const {
  return fmt::format("user: {}\nport: {}\ntls: {}\ntunnel: {}\nwaitsForClient: {}\n",
                     call_->request->user ? call_->request->user->name : "", target_.port,
                     target_.tls, tunnel_.open(), full_);
}

// -- from the client ------------------------------------------------------------------------------

void proxy_session::on_client_bytes(const client_bytes& m) {
  active_ = true;
  if (deaf_) return tunnel_.consumed(m.bytes.size());
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

void proxy_session::on_opened(const opened& m) {
  if (!*m.result) return fail(m.result->error().message);
  port_ = std::move(**m.result);
  if (!tls_) late_.cancel();
  read();
  write();
}

void proxy_session::read() {
  if (!port_ || reading_ || full_ || finished_) return;
  reading_ = true;
  port_->read([to = self()](std::string bytes) { to.tell(part_read{std::move(bytes)}); });
}

void proxy_session::on_part_read(const part_read& m) {
  reading_ = false;
  active_ = true;
  if (finished_) return;
  if (!tls_) {
    if (m.bytes.empty()) return end();
    take(m.bytes);
    return read();
  }
  if (m.bytes.empty()) return end();
  auto got = tls_->receive(m.bytes);
  if (tls_->ready()) late_.cancel();
  if (!got.plain.empty()) take(std::move(got.plain));
  if (got.problem) return fail(*got.problem);
  if (got.ended) return end();
  write();
  read();
}

// The next piece of the body, when what was before it has been given to the port.
void proxy_session::refill() {
  const auto& body = call_->request->content;
  if (!output_.empty() || sent_body_ == body.size()) return;
  output_ = body.substr(sent_body_, defaults::proxy_piece_bytes);
  sent_body_ += output_.size();
}

void proxy_session::write() {
  if (!port_ || writing_ || deaf_ || finished_) return;
  refill();
  std::string bytes;
  if (!tls_ || tls_->ready()) {
    in_flight_ = tunnel_.open() ? output_.size() : 0;
    bytes = std::exchange(output_, {});
    if (tls_) tls_->send(bytes);
  }
  if (tls_) bytes = tls_->take();
  if (bytes.empty()) return;
  writing_ = true;
  port_->write(std::move(bytes), [to = self()](bool taken) { to.tell(written{taken}); });
}

void proxy_session::on_written(const written& m) {
  writing_ = false;
  tunnel_.consumed(std::exchange(in_flight_, 0));
  // It may have answered without reading all: the answer counts.
  if (!m.taken) deaf_ = true;
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
  auto answer = client_head(head, *call_->request, path_, target_.host);
  if (head.status == 101) {
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
  if (!std::exchange(begun_, true))
    call_->fail(api::service_unavailable("error trying to reach service: " + reason));
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
