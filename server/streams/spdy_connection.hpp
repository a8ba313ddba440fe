// A connection over which a client speaks SPDY/3.1: streams that the client opens, bytes both ways.
// Belongs to one actor. Pings are answered unseen.
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
  // False: the stream is refused.
  std::function<bool(std::uint32_t stream, const spdy_headers& headers)> opened;
  std::function<void(std::uint32_t stream, std::string_view bytes)> data;
  // The client sends no more on it.
  std::function<void(std::uint32_t stream)> ended;
  // The client wants nothing of it any more.
  std::function<void(std::uint32_t stream)> reset;
};

class spdy_connection {
 public:
  explicit spdy_connection(client_pipe pipe) : pipe_{std::move(pipe)} {}

  const client_pipe& pipe() const noexcept { return pipe_; }

  // Says what is wrong: then the connection is of no use any more.
  std::optional<std::string> take(std::string_view bytes, const spdy_events& events);
  // `last`: nothing follows on the stream from here. False: no room, wait for `client_writable`.
  bool write(std::uint32_t stream, std::string_view bytes, bool last = false);
  void reset(std::uint32_t stream, std::uint32_t status);

 private:
  std::optional<std::string> open(const spdy_frame& frame, const spdy_events& events);
  void take(const spdy_frame& frame, const spdy_events& events);

  const client_pipe pipe_;
  spdy_reader reader_;
  spdy_writer writer_;
  std::uint32_t newest_ = 0;
  std::set<std::uint32_t> open_;  // that the client may still send on
};

// Whether the client asks for a connection of SPDY/3.1.
bool wants_spdy(const request& request);

// Answers the request with 101 and speaks one of `known` on the connection, the first of those that
// the client offers; or refuses it with 403 (kubernetes: apimachinery/pkg/util/httpstream,
// Handshake). The version is empty where the client offers none.
struct spdy_accepted {
  client_pipe pipe;
  std::string version;
};
std::optional<spdy_accepted> accept_spdy(const request& request, const responder& answer,
                                         const std::vector<std::string_view>& known,
                                         runtime::actor_ref to);

}  // namespace troupe::server
