#include "server/rest/streams/port_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "server/streams/defaults.hpp"

namespace troupe::server {

port_session::port_session(call_ptr call, port_target target)
    : call_{std::move(call)}, target_{std::move(target)} {}

port_session::~port_session() {
  if (client_) client_->pipe().close();
}

const runtime::behavior& port_session::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&port_session::on_client_bytes, &port_session::on_client_writable,
                        &port_session::on_client_closed, &port_session::on_opened,
                        &port_session::on_part_read, &port_session::on_written);
  return table;
}

void port_session::started() {
  client_ = accept_ports(*call_->request, call_->take_over(101), target_.ports, self());
  if (!client_) return stop();
  client_->start(events());
  idle_ = every(defaults::stream_idle, [this] {
    if (!std::exchange(active_, false)) stop();
  });
}

std::string port_session::describe() const {
  auto text = fmt::format("user: {}\nwaitsForClient: {}\nconnections: {}\n",
                          call_->request->user ? call_->request->user->name : "", full_,
                          connections_.size());
  for (const auto& [number, each] : connections_)
    text += fmt::format("  {}: port {}{}\n", number, each.port, each.stream ? "" : ", connecting");
  return text;
}

// -- from the client ------------------------------------------------------------------------------

port_events port_session::events() {
  return {.opened = [this](auto connection, int port) { open(connection, port); },
          .data =
              [this](auto connection, auto bytes) {
                const auto found = connections_.find(connection);
                if (found == connections_.end() || found->second.input_closed) return;
                found->second.input += bytes;
                kept_ += bytes.size();
                write(*found);
              },
          .ended =
              [this](auto connection) {
                const auto found = connections_.find(connection);
                if (found == connections_.end()) return;
                found->second.input_ended = true;
                write(*found);
              },
          .closed = [this](auto connection) { forget(connection); }};
}

void port_session::on_client_bytes(const client_bytes& m) {
  active_ = true;
  kept_ = 0;
  if (client_->take(m, events())) return stop();
  client_->pipe().consumed(m.bytes.size() - kept_);
}

void port_session::on_client_writable(const client_writable&) {
  full_ = false;
  for (auto& each : connections_)
    read(each);
}

void port_session::on_client_closed(const client_closed&) {
  stop();
}

// -- the ports ------------------------------------------------------------------------------------

void port_session::open(std::uint32_t connection, int port) {
  connections_[connection].port = port;
  target_.source->forward_port(target_.pod_uid, port, [to = self(), connection](port_result got) {
    to.tell(opened{connection, std::make_shared<port_result>(std::move(got))});
  });
}

void port_session::on_opened(const opened& m) {
  const auto found = connections_.find(m.connection);
  if (found == connections_.end()) return;
  if (!*m.result)
    return end(m.connection,
               fmt::format("error forwarding port {} to pod {}: {}", found->second.port,
                           call_->route.name, m.result->error().message));
  found->second.stream = std::move(**m.result);
  read(*found);
  write(*found);
}

void port_session::read(entry& of) {
  auto& [connection, each] = of;
  if (!each.stream || each.reading || full_) return;
  each.reading = true;
  each.stream->read([to = self(), connection = connection](std::string bytes) {
    to.tell(part_read{connection, std::move(bytes)});
  });
}

void port_session::on_part_read(const part_read& m) {
  const auto found = connections_.find(m.connection);
  if (found == connections_.end()) return;
  found->second.reading = false;
  active_ = true;
  if (m.bytes.empty()) return end(m.connection, {});
  if (!client_->write(m.connection, m.bytes)) full_ = true;
  read(*found);
}

void port_session::write(entry& of) {
  auto& [connection, each] = of;
  if (!each.stream || each.writing != 0 || each.input_closed) return;
  if (!each.input.empty()) {
    each.writing = each.input.size();
    return each.stream->write(std::exchange(each.input, {}),
                              [to = self(), connection = connection](bool taken) {
                                to.tell(written{connection, taken});
                              });
  }
  if (!each.input_ended) return;
  each.input_closed = true;
  each.stream->close_input();
}

void port_session::on_written(const written& m) {
  const auto found = connections_.find(m.connection);
  if (found == connections_.end()) return;
  auto& each = found->second;
  client_->pipe().consumed(std::exchange(each.writing, 0));
  if (!m.taken) {
    // The port reads no more: further data of the client is discarded.
    each.input_closed = true;
    client_->pipe().consumed(std::exchange(each.input, {}).size());
  }
  write(*found);
}

void port_session::end(std::uint32_t connection, std::string_view problem) {
  client_->end(connection, problem);
  forget(connection);
}

void port_session::forget(std::uint32_t connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  client_->pipe().consumed(found->second.input.size() + found->second.writing);
  connections_.erase(found);
}

}  // namespace troupe::server
