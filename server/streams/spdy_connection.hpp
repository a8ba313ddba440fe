// A SPDY/3.1 connection with a client, which opens the streams. Belongs to one actor. Pings are
// answered automatically.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "actors/kubelet/os/spdy_frames.hpp"
#include "server/streams/client_pipe.hpp"

namespace troupe::server {

using actors::find_header;
using actors::spdy_data_head;
using actors::spdy_data_limit;
using actors::spdy_frame;
using actors::spdy_headers;
using actors::spdy_reader;
using actors::spdy_type;
using actors::spdy_writer;
namespace spdy_status = actors::spdy_status;

struct spdy_events {
  // Return false to refuse the stream.
  std::function<bool(std::uint32_t stream, const spdy_headers& headers)> opened;
  std::function<void(std::uint32_t stream, std::string_view bytes)> data;
  // The client has closed its sending side of the stream.
  std::function<void(std::uint32_t stream)> ended;
  // The client has reset the stream.
  std::function<void(std::uint32_t stream)> reset;
};

class spdy_connection {
 public:
  explicit spdy_connection(client_pipe pipe) : pipe_{std::move(pipe)} {}

  const client_pipe& pipe() const noexcept { return pipe_; }

  // After an error the connection must be closed.
  std::optional<std::string> take(std::string_view bytes, const spdy_events& events);
  // `last`: closes our side of the stream. Returns false if full: wait for
  // `client_writable`.
  bool write(std::uint32_t stream, std::string_view bytes, bool last = false);
  void reset(std::uint32_t stream, std::uint32_t status);

 private:
  std::optional<std::string> open(const spdy_frame& frame, const spdy_events& events);
  void take(const spdy_frame& frame, const spdy_events& events);

  const client_pipe pipe_;
  spdy_reader reader_;
  spdy_writer writer_;
  std::uint32_t newest_ = 0;
  std::set<std::uint32_t> open_;  // the client may still send on them
};

// Whether the request asks for a SPDY/3.1 connection.
bool wants_spdy(const request& request);

// Responds with 101 and selects the first of the client's offers that is in `known`; or refuses the
// request with 403 (kubernetes: apimachinery/pkg/util/httpstream, Handshake). The version is empty
// if the client offers none.
struct spdy_accepted {
  client_pipe pipe;
  std::string version;
};
std::optional<spdy_accepted> accept_spdy(const request& request, const responder& answer,
                                         const std::vector<std::string_view>& known,
                                         runtime::actor_ref to);

}  // namespace troupe::server
