#include "server/streams/command_client.hpp"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/values/base64.hpp"
#include "server/connections/websocket.hpp"
#include "server/streams/defaults.hpp"
#include "server/streams/spdy_connection.hpp"

namespace troupe::server {
namespace {

using api::meta::v1::Status;

bool failed(const Status& status) {
  return status.status() != "Success";
}

std::string json_of(const Status& status) {
  return api::encode_json(status, "v1", "Status");
}

void take_size(std::string_view json, const command_events& events) {
  if (const auto size = parse_terminal_size(json)) events.resized(size->rows, size->columns);
}

// -- WebSocket ------------------------------------------------------------------------------------

struct websocket_version {
  const char* name;
  bool base64 = false;
  bool status = false;  // as an object, not as text
  bool closes = false;  // the client can close its input
};

constexpr websocket_version websocket_versions[] = {
    {.name = "v5.channel.k8s.io", .status = true, .closes = true},
    {.name = "v4.channel.k8s.io", .status = true},
    {.name = "v4.base64.channel.k8s.io", .base64 = true, .status = true},
    {.name = "channel.k8s.io"},
    {.name = "base64.channel.k8s.io", .base64 = true},
};

constexpr char close_channel = static_cast<char>(255);

class websocket_command final : public command_client {
 public:
  websocket_command(client_pipe pipe, const command_channels& channels)
      : command_client{std::move(pipe)},
        channels_{channels},
        version_{version_of(pipe_.protocol())} {
    // kubectl before 1.34 starts to read before it has created its streams, and discards data for
    // unknown streams (kubernetes/kubernetes#131189).
    pipe_.ping();
  }

  std::optional<std::string> take(const client_bytes& m, const command_events& events) override {
    ready_ = true;
    std::string_view bytes = m.bytes;
    if (bytes.empty()) return std::nullopt;
    const char first = bytes.front();
    bytes.remove_prefix(1);
    std::string decoded;
    if (version_.base64) {
      if (api::append_from_base64(decoded, bytes)) return "expected base64";
      bytes = decoded;
    }
    const auto channel = static_cast<command_channel>(version_.base64 ? first - '0' : first);
    if (version_.closes && first == close_channel) {
      if (bytes == std::string_view{"\0", 1}) events.input_ended();
    } else if (channel == command_channel::input && channels_.input) {
      events.input(bytes);
    } else if (channel == command_channel::resize && channels_.tty) {
      take_size(bytes, events);
    }
    return std::nullopt;
  }

  void reads() override { ready_ = true; }
  bool ready() const override { return ready_; }

  // Tells the client that it is connected (kubernetes: createWebSocketStreams).
  void opened() override {
    send(channels_.output  ? command_channel::output
         : channels_.error ? command_channel::error
                           : command_channel::status,
         {});
  }

  bool write(command_channel to, std::string_view bytes) override { return send(to, bytes); }

  void finish(const Status& status) override {
    if (version_.status)
      send(command_channel::status, json_of(status));
    else if (failed(status))
      send(command_channel::status, status.message());
    pipe_.close();
  }

 private:
  static const websocket_version& version_of(std::string_view name) {
    for (const auto& each : websocket_versions)
      if (each.name == name) return each;
    // A client without a subprotocol uses the first version.
    return *std::find_if(
        std::begin(websocket_versions), std::end(websocket_versions),
        [](const auto& each) { return std::string_view{"channel.k8s.io"} == each.name; });
  }

  bool send(command_channel to, std::string_view bytes) {
    const auto number = static_cast<char>(to);
    std::string message(1, version_.base64 ? static_cast<char>('0' + number) : number);
    if (version_.base64)
      api::append_base64(message, bytes);
    else
      message += bytes;
    return pipe_.write(std::move(message), !version_.base64);
  }

  const command_channels channels_;
  const websocket_version& version_;
  bool ready_ = false;
};

// -- SPDY -----------------------------------------------------------------------------------------

constexpr std::string_view spdy_versions[] = {"v4.channel.k8s.io", "v3.channel.k8s.io",
                                              "v2.channel.k8s.io", "channel.k8s.io"};
constexpr std::array<std::string_view, 5> stream_types = {"stdin", "stdout", "stderr", "error",
                                                          "resize"};

class spdy_command final : public command_client {
 public:
  spdy_command(client_pipe pipe, const command_channels& channels, std::string_view version)
      : command_client{pipe}, connection_{std::move(pipe)}, status_{version == spdy_versions[0]} {
    const bool resizes = version == spdy_versions[0] || version == spdy_versions[1];
    wanted_[index(command_channel::input)] = channels.input;
    wanted_[index(command_channel::output)] = channels.output;
    wanted_[index(command_channel::error)] = channels.error;
    wanted_[index(command_channel::status)] = true;
    wanted_[index(command_channel::resize)] = channels.tty && resizes;
  }

  std::optional<std::string> take(const client_bytes& m, const command_events& events) override {
    return connection_.take(
        m.bytes,
        {.opened = [this](auto stream, const auto& headers) { return open(stream, headers); },
         .data = [&](auto stream, auto bytes) { take_data(stream, bytes, events); },
         .ended =
             [&](auto stream) {
               if (stream == stream_of(command_channel::input)) events.input_ended();
             },
         .reset =
             [&](auto stream) {
               if (stream == stream_of(command_channel::input)) events.input_ended();
             }});
  }

  bool ready() const override {
    for (std::size_t i = 0; i < streams_.size(); ++i)
      if (wanted_[i] && streams_[i] == 0) return false;
    return true;
  }

  bool write(command_channel to, std::string_view bytes) override {
    return connection_.write(stream_of(to), bytes);
  }

  void finish(const Status& status) override {
    const auto problem = stream_of(command_channel::status);
    if (problem == 0) return pipe_.close();
    const auto text = status_ ? json_of(status) : failed(status) ? status.message() : std::string{};
    for (const auto channel : {command_channel::output, command_channel::error})
      if (const auto stream = stream_of(channel); stream != 0) connection_.write(stream, {}, true);
    connection_.write(problem, text, true);
  }

 private:
  static constexpr std::size_t index(command_channel channel) {
    return static_cast<std::size_t>(channel);
  }
  std::uint32_t stream_of(command_channel channel) const { return streams_[index(channel)]; }

  // Each requested stream may be opened once.
  bool open(std::uint32_t stream, const spdy_headers& headers) {
    const auto type = find_header(headers, "streamtype");
    for (std::size_t i = 0; i < stream_types.size(); ++i)
      if (stream_types[i] == type && wanted_[i] && streams_[i] == 0) {
        streams_[i] = stream;
        return true;
      }
    return false;
  }

  void take_data(std::uint32_t stream, std::string_view bytes, const command_events& events) {
    if (stream == stream_of(command_channel::input)) return events.input(bytes);
    if (stream != stream_of(command_channel::resize)) return;
    // Objects may be split anywhere between messages.
    sizes_ += bytes;
    for (std::size_t end = 0; (end = sizes_.find('}')) != std::string::npos;) {
      take_size(std::string_view{sizes_}.substr(0, end + 1), events);
      sizes_.erase(0, end + 1);
    }
    if (sizes_.size() > defaults::terminal_size_bytes) sizes_.clear();
  }

  spdy_connection connection_;
  const bool status_;
  std::array<bool, 5> wanted_{};
  std::array<std::uint32_t, 5> streams_{};  // 0: not open
  std::string sizes_;
};

}  // namespace

bool wants_streams(const request& request) {
  return websocket::wanted(request) || wants_spdy(request);
}

std::unique_ptr<command_client> accept_command(const request& request, const responder& answer,
                                               const command_channels& channels,
                                               runtime::actor_ref to) {
  if (wants_spdy(request)) {
    auto accepted = accept_spdy(
        request, answer, {std::begin(spdy_versions), std::end(spdy_versions)}, std::move(to));
    if (!accepted) return nullptr;
    return std::make_unique<spdy_command>(std::move(accepted->pipe), channels, accepted->version);
  }
  std::vector<std::string> names;
  for (const auto& each : websocket_versions)
    names.emplace_back(each.name);
  auto pipe = client_pipe::open_websocket(request, answer, names, std::move(to));
  if (!pipe.open()) return nullptr;
  return std::make_unique<websocket_command>(std::move(pipe), channels);
}

std::optional<terminal_size> parse_terminal_size(std::string_view json) {
  rapidjson::Document read;
  read.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (read.HasParseError() || !read.IsObject()) return std::nullopt;
  const auto number = [&read](const char* name) -> int {
    const auto found = read.FindMember(name);
    if (found == read.MemberEnd() || !found->value.IsUint()) return 0;
    return static_cast<int>(
        std::min<unsigned>(found->value.GetUint(), std::numeric_limits<std::uint16_t>::max()));
  };
  const terminal_size size{number("Height"), number("Width")};
  if (size.rows == 0 || size.columns == 0) return std::nullopt;
  return size;
}

}  // namespace troupe::server
