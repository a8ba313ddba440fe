// The client's side of a command: its streams, and their protocol (kubernetes:
// kubelet/pkg/cri/streaming/remotecommand). Belongs to one actor.
//
// WebSocket: one message for each piece, whose first byte is the channel; [v4.|v5.]channel.k8s.io,
// or in base64. SPDY/3.1: one stream for each channel, v1 to v4 of the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/schema/meta_request.pb.h"
#include "runtime/actor_ref.hpp"
#include "server/http/http.hpp"
#include "server/streams/client_pipe.hpp"

namespace troupe::server {

enum class command_channel : std::uint8_t { input, output, error, status, resize };

// The streams that the client requests.
struct command_channels {
  bool input = false;
  bool output = false;
  bool error = false;
  bool tty = false;  // then there is no error stream
};

// The messages of the client.
struct command_events {
  std::function<void(std::string_view bytes)> input;
  std::function<void()> input_ended;
  std::function<void(int rows, int columns)> resized;
};

class command_client {
 public:
  virtual ~command_client() = default;

  const client_pipe& pipe() const noexcept { return pipe_; }
  // Handles a message of the client. After an error the connection must be closed.
  virtual std::optional<std::string> take(const client_bytes& m, const command_events& events) = 0;
  // The client answered a ping, or its time for that is over.
  virtual void reads() {}
  // All requested streams are open, also at the client: the command may start.
  virtual bool ready() const = 0;
  // The command has started.
  virtual void opened() {}
  // Writes output or error. Returns false if there is no room: wait for `client_writable`.
  virtual bool write(command_channel to, std::string_view bytes) = 0;
  // Sends the final status: the result of the command, or why it did not start. Closes a WebSocket;
  // a SPDY client closes the connection when it has read everything.
  virtual void finish(const api::meta::v1::Status& status) = 0;

 protected:
  explicit command_client(client_pipe pipe) : pipe_{std::move(pipe)} {}
  const client_pipe pipe_;
};

// Whether the request asks for a connection with streams.
bool wants_streams(const request& request);

// Responds with 101, or refuses the request and returns null. Data from the client goes to `to`.
std::unique_ptr<command_client> accept_command(const request& request, const responder& answer,
                                               const command_channels& channels,
                                               runtime::actor_ref to);

// Parses "{"Width":80,"Height":24}", the clients' form of a terminal size; nullopt if invalid.
struct terminal_size {
  int rows = 0;
  int columns = 0;
};
std::optional<terminal_size> parse_terminal_size(std::string_view json);

}  // namespace troupe::server
