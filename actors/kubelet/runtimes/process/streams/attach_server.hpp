// The attached clients of a container, served by its shim (attach_packets.hpp): each gets the
// container's output from its attach on; the clients' input is written to the container packet by
// packet, interleaved if several send some. One thread; nothing blocks but `drain`.
//
// A client never blocks the container or its log: unread output is kept here, once for all clients,
// up to `process_defaults::attach_backlog_bytes`; beyond it the client furthest behind is cut off.
// (Upstream's runtimes block the container instead.) Input is read from a socket only after the
// container has taken the previous input. At most `process_defaults::attach_limit` clients at a
// time; one that has disconnected, or has not joined yet, makes room.
//
// Only its owner can access the socket; containers cannot see its directory (container_root.hpp).
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/kubelet/runtimes/process/streams/attach_packets.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

class attach_server {
 public:
  struct container {
    runtime::unique_fd input = {};     // non-blocking; none: no input
    bool once = false;                 // the input ends with the first attachment with input
    runtime::unique_fd terminal = {};  // none: the streams are pipes
  };
  // If the socket cannot be created, no client can attach.
  attach_server(const std::string& directory, container to);

  // Appends descriptors to poll; pass them to `serve` in this order, before any other call.
  void watch(std::vector<pollfd>& all) const;
  void serve(std::span<const pollfd> seen);

  // Sends the container's output, of `output` or `error`, to all clients.
  void publish(attach_packet stream, std::string_view bytes);
  // The container has ended; no more clients are accepted.
  void end(int code);
  // Whether a client has not read all output yet.
  bool is_behind() const noexcept { return !backlog_.empty(); }
  // Waits until all clients have read all output, at most `process_defaults::attach_drain_limit`.
  void drain();

 private:
  struct attachment {
    runtime::unique_fd socket;
    bool joined = false, has_input = false;
    bool listens = true;         // false: it was told that there is no more input
    bool gone = false;           // disconnected: packets that it sent before are still read
    std::uint64_t next = 0;      // position in the backlog
    std::string unwritten = {};  // unwritten input
  };
  using attachments = std::list<attachment>;

  void admit();
  bool make_room();
  bool look_at(attachment& each, short events);
  bool receive(attachment& from);
  bool take(attachment& from, std::string_view packet);
  bool join(attachment& from, std::string_view flags);
  bool resize(std::string_view content);
  void write_input(attachment& from);
  void end_input();
  void leave(attachments::iterator one);
  void send_backlog(attachment& to);
  void trim();

  container to_;
  bool takes_input_;
  runtime::unique_fd listener_;
  attachments all_;
  std::deque<std::string> backlog_;  // packets that a client has not read
  std::uint64_t first_ = 0;          // number of the first packet
  std::size_t backlog_bytes_ = 0;
};

}  // namespace troupe::actors
