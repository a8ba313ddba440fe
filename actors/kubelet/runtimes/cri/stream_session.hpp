// A connection to the streaming server of the CRI runtime: SPDY/3.1, opened by one HTTP request
// (docs/decisions/0047-containers-by-cri.md). The server belongs to the runtime, on this
// machine.
//
// Belongs to the loop's thread. Bytes are read from the socket only on request, so a slow reader
// blocks the command.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/os/duplex_socket.hpp"
#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/os/spdy_frames.hpp"
#include "actors/kubelet/runtime/streams.hpp"
#include "actors/kubelet/runtimes/cri/defaults.hpp"

namespace troupe::actors {

// A stream to open: its type, and additional headers.
struct stream_opening {
  std::string type;  // "error", "stdin", "stdout", "stderr", "resize", "data"
  spdy_headers more = {};
};

// Parses the text of a command's error stream: its exit code, or why it is unknown. Pure.
exec_part read_status(const std::string& text);

class stream_session : public std::enable_shared_from_this<stream_session> {
 public:
  using opened = std::function<void(tl::expected<std::shared_ptr<stream_session>, std::string>)>;

  struct part {
    std::string stream;  // its type; empty: the connection has ended
    std::string bytes = {};
    bool last = false;  // no more bytes on this stream
  };

  // `url`: the runtime's answer to Exec, Attach or PortForward. An error if it does not open them
  // within `limit`.
  static void open(std::shared_ptr<event_loop> loop, const std::string& url,
                   const std::string& protocol, std::vector<stream_opening> streams, opened done,
                   std::chrono::milliseconds limit = cri_defaults::stream_timeout);

  stream_session(std::shared_ptr<event_loop> loop, runtime::unique_fd socket);

  // One call at a time.
  void read(std::function<void(part)> done);
  void write(const std::string& stream, std::string bytes, bool last,
             std::function<void(bool)> done);
  void close() { socket_->close(); }

 private:
  void shake_hands(std::string head, std::vector<stream_opening> streams);
  void await_answer(std::vector<stream_opening> streams);
  // Answer `open`, once.
  void succeed();
  void fail(std::string reason);
  void open_streams(const std::vector<stream_opening>& streams);
  void take(std::string_view bytes);
  void take(const spdy_frame& frame);
  void add_part(const std::string& stream, std::string_view bytes, bool last);
  void pull();

  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<duplex_socket> socket_;
  spdy_reader reader_;
  spdy_writer writer_;
  opened opened_;  // empty: `open` was answered
  event_loop::moment deadline_;
  std::string answer_;  // of HTTP, until it is complete
  std::map<std::string, std::uint32_t> ids_;
  std::map<std::uint32_t, std::string> types_;
  std::deque<part> parts_;
  std::function<void(part)> asked_;
  bool reading_ = false, ended_ = false;
  struct outgoing {
    std::deque<std::string> bytes;
    std::function<void(bool)> done;
  };
  void push();
  std::deque<outgoing> outgoing_;  // the socket takes one write at a time
  bool writing_ = false;
};

// Streams of a command, or of a container's main process.
std::unique_ptr<exec_stream> make_exec_stream(std::shared_ptr<event_loop> loop,
                                              std::shared_ptr<stream_session> session);
std::unique_ptr<port_stream> make_port_stream(std::shared_ptr<event_loop> loop,
                                              std::shared_ptr<stream_session> session);

std::vector<stream_opening> exec_openings(const exec_request& request);
std::vector<stream_opening> port_openings(int port);

}  // namespace troupe::actors
