#include "server/streams/port_client.hpp"

#include <map>
#include <utility>

#include "api/values/base64.hpp"
#include "api/values/integer.hpp"
#include "server/connections/websocket.hpp"
#include "server/http/status.hpp"
#include "server/streams/defaults.hpp"
#include "server/streams/spdy_connection.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view spdy_version = "portforward.k8s.io";
constexpr const char* spdy_in_websocket = "SPDY/3.1+portforward.k8s.io";
constexpr const char* by_channels = "v4.channel.k8s.io";
constexpr const char* by_base64_channels = "v4.base64.channel.k8s.io";

// -- SPDY -----------------------------------------------------------------------------------------

class spdy_ports final : public port_client {
 public:
  explicit spdy_ports(client_pipe pipe) : port_client{pipe}, connection_{std::move(pipe)} {}

  void start(const port_events&) override {}

  std::optional<std::string> take(const client_bytes& m, const port_events& events) override {
    return connection_.take(
        m.bytes,
        {.opened = [&](auto stream, const auto& headers) { return open(stream, headers, events); },
         .data =
             [&](auto stream, auto bytes) {
               if (errors_.contains(stream)) events.data(stream, bytes);
             },
         .ended =
             [&](auto stream) {
               if (errors_.contains(stream)) events.ended(stream);
             },
         .reset = [&](auto stream) { drop(stream, events); }});
  }

  bool write(std::uint32_t connection, std::string_view bytes) override {
    return connection_.write(connection, bytes);
  }

  void end(std::uint32_t connection, std::string_view problem) override {
    const auto found = errors_.find(connection);
    if (found == errors_.end()) return;
    connection_.write(found->second, problem, true);
    connection_.write(connection, {}, true);
    errors_.erase(found);
  }

 private:
  // The error stream comes first, then the data stream with the same `requestid`. Very old clients
  // send none: their data stream then belongs to the last error stream.
  bool open(std::uint32_t stream, const spdy_headers& headers, const port_events& events) {
    const std::string id{find_header(headers, "requestid")};
    const auto port = api::parse_integer<int>(find_header(headers, "port")).value_or(0);
    if (port < 1 || port > 65535) return false;
    const auto type = find_header(headers, "streamtype");
    if (type == "error") {
      return waiting_.size() < defaults::forwarded_connections &&
             waiting_.try_emplace(id, stream).second;
    }
    const auto error = waiting_.find(id);
    if (type != "data" || error == waiting_.end()) return false;
    errors_[stream] = error->second;
    waiting_.erase(error);
    events.opened(stream, port);
    return true;
  }

  // The client waits for the end of the error stream after it has reset the data stream.
  void drop(std::uint32_t stream, const port_events& events) {
    std::erase_if(waiting_, [stream](const auto& each) { return each.second == stream; });
    const auto found = errors_.find(stream);
    if (found == errors_.end()) return;
    connection_.write(found->second, {}, true);
    errors_.erase(found);
    events.closed(stream);
  }

  spdy_connection connection_;
  std::map<std::string, std::uint32_t> waiting_;   // error streams, by request id
  std::map<std::uint32_t, std::uint32_t> errors_;  // error streams, by open data stream
};

// -- channels of a WebSocket ----------------------------------------------------------------------

// Two channels for each port: data and error.
class channel_ports final : public port_client {
 public:
  channel_ports(client_pipe pipe, std::vector<int> ports)
      : port_client{std::move(pipe)},
        ports_{std::move(ports)},
        base64_{pipe_.protocol() == by_base64_channels} {}

  void start(const port_events& events) override {
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
      const auto port = static_cast<unsigned>(ports_[i]);
      const char number[] = {static_cast<char>(port & 0xff), static_cast<char>(port >> 8)};
      for (const auto channel : {2 * i, 2 * i + 1})
        send(channel, {number, sizeof number});
      events.opened(i, ports_[i]);
    }
  }

  std::optional<std::string> take(const client_bytes& m, const port_events& events) override {
    std::string_view bytes = m.bytes;
    if (bytes.empty()) return std::nullopt;
    const auto channel = static_cast<std::uint8_t>(base64_ ? bytes[0] - '0' : bytes[0]);
    bytes.remove_prefix(1);
    std::string decoded;
    if (base64_) {
      if (api::append_from_base64(decoded, bytes)) return "expected base64";
      bytes = decoded;
    }
    if (channel % 2 == 0 && channel / 2u < ports_.size() && !bytes.empty())
      events.data(channel / 2u, bytes);
    return std::nullopt;
  }

  bool write(std::uint32_t connection, std::string_view bytes) override {
    return send(2 * connection, bytes);
  }

  // A channel has no end of its own: the connection ends with the last port.
  void end(std::uint32_t connection, std::string_view problem) override {
    if (!problem.empty()) send(2 * connection + 1, problem);
    if (++ended_ == ports_.size()) pipe_.close();
  }

 private:
  bool send(std::uint32_t channel, std::string_view bytes) {
    std::string message(1, static_cast<char>(base64_ ? '0' + channel : channel));
    if (base64_)
      api::append_base64(message, bytes);
    else
      message += bytes;
    return pipe_.write(std::move(message), !base64_);
  }

  const std::vector<int> ports_;
  const bool base64_;
  std::size_t ended_ = 0;
};

}  // namespace

std::unique_ptr<port_client> accept_ports(const request& request, const responder& answer,
                                          const std::vector<int>& ports, runtime::actor_ref to) {
  if (wants_spdy(request)) {
    auto accepted = accept_spdy(request, answer, {spdy_version}, std::move(to));
    if (!accepted) return nullptr;
    return std::make_unique<spdy_ports>(std::move(accepted->pipe));
  }
  if (ports.empty() && !request.headers.has("sec-websocket-protocol")) {
    answer.respond(status_response(400, "BadRequest", "query parameter \"ports\" is required"));
    return nullptr;
  }
  std::vector<std::string> names{spdy_in_websocket};
  // Channels need the ports in the request.
  if (!ports.empty()) names.insert(names.end(), {by_channels, by_base64_channels});
  auto pipe = client_pipe::open_websocket(request, answer, names, std::move(to));
  if (!pipe.open()) return nullptr;
  if (pipe.protocol() == spdy_in_websocket) return std::make_unique<spdy_ports>(std::move(pipe));
  return std::make_unique<channel_ports>(std::move(pipe), ports);
}

}  // namespace troupe::server
