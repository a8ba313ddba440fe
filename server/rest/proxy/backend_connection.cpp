#include "server/rest/proxy/backend_connection.hpp"

#include <utility>

namespace troupe::server {

void backend_connection::open(const runtime::actor_ref& owner) {
  owner_ = owner;
  if (target_.tls)
    tls_ = target_.context ? std::make_unique<tls_client>(target_.context, target_.server_name)
                           : std::make_unique<tls_client>();
  target_.open([to = owner](proxy_target::answer got) {
    to.tell(backend_opened{std::make_shared<proxy_target::answer>(std::move(got))});
  });
}

std::optional<std::string> backend_connection::take(const backend_opened& m) {
  if (!*m.result) return m.result->error();
  port_ = std::move(**m.result);
  return std::nullopt;
}

backend_connection::part backend_connection::take(const backend_read& m) {
  reading_ = false;
  if (m.bytes.empty()) return {.ended = true};
  if (!tls_) return {.bytes = m.bytes};
  auto got = tls_->receive(m.bytes);
  return {std::move(got.plain), got.ended, std::move(got.problem)};
}

bool backend_connection::take(const backend_written& m) {
  writing_ = false;
  refuses_input_ = refuses_input_ || !m.taken;
  return m.taken;
}

void backend_connection::read() {
  if (!port_ || std::exchange(reading_, true)) return;
  port_->read([to = owner_](std::string bytes) { to.tell(backend_read{std::move(bytes)}); });
}

void backend_connection::write(std::string plain) {
  if (tls_) {
    tls_->send(plain);
    plain = tls_->take();
  }
  if (plain.empty()) return;
  writing_ = true;
  port_->write(std::move(plain), [to = owner_](bool taken) { to.tell(backend_written{taken}); });
}

}  // namespace troupe::server
