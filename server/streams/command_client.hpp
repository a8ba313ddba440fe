// The client's side of a command: which streams it opened, in which form it wants them
// (kubernetes: kubelet/pkg/cri/streaming/remotecommand). Belongs to one actor.
//
// WebSocket: one message for each piece, its first byte names the channel; [v4.|v5.]channel.k8s.io,
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

// The streams that the client wants.
struct command_channels {
  bool input = false;
  bool output = false;
  bool error = false;
  bool tty = false;  // then there is no error
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
  // A message of the client. Says what is wrong with it: then the connection is of no use any more.
  virtual std::optional<std::string> take(const client_bytes& m, const command_events& events) = 0;
  // The client answered a ping, or had time enough to.
  virtual void reads() {}
  // All streams that were asked for are there, at the client too: the command may begin.
  virtual bool ready() const = 0;
  // The command has begun.
  virtual void opened() {}
  // Output or error. False: no room, wait for `client_writable`.
  virtual bool write(command_channel to, std::string_view bytes) = 0;
  // The last that is sent: how the command ended, or why there was none. WebSockets are closed
  // with it; a client of SPDY closes the connection when it has read all.
  virtual void finish(const api::meta::v1::Status& status) = 0;

 protected:
  explicit command_client(client_pipe pipe) : pipe_{std::move(pipe)} {}
  const client_pipe pipe_;
};

// Whether the client asks for a connection that can carry streams.
bool wants_streams(const request& request);

// Answers the request with 101, or refuses it and is null. What the client sends comes to `to`.
std::unique_ptr<command_client> accept_command(const request& request, const responder& answer,
                                               const command_channels& channels,
                                               runtime::actor_ref to);

// "{"Width":80,"Height":24}", as clients say the size of their terminal; nothing: it is none.
struct terminal_size {
  int rows = 0;
  int columns = 0;
};
std::optional<terminal_size> parse_terminal_size(std::string_view json);

}  // namespace troupe::server
