// Those who are attached to a container, as its shim serves them (attach_packets.hpp): each gets
// what the container writes from then on; their input is written to the container, one packet after
// the other where several have some. One thread; nothing blocks but `farewell`.
//
// Nobody holds up the container or its log: what a slow reader has not taken waits here, once for
// all of them, up to `kubelet_defaults::attach_backlog_bytes`; beyond it whoever is furthest behind
// is cut off. (Upstream's runtimes block the container instead.) Input is taken from a socket only
// when the container has taken what came before. At most `kubelet_defaults::attach_limit` at a
// time; one that has gone, or has not said that it joins, makes room.
//
// The socket is open to the owner alone, and no container sees its directory (container_root.hpp).
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
    runtime::unique_fd input = {};     // non-blocking; none: it takes no input
    bool once = false;                 // the input ends with the first attachment that has some
    runtime::unique_fd terminal = {};  // none: it has pipes
  };
  // Where the socket cannot be made, nobody comes.
  attach_server(const std::string& directory, container to);

  // Appends what is to be waited for; to be given to `serve` in this order, before any other call.
  void watch(std::vector<pollfd>& all) const;
  void serve(std::span<const pollfd> seen);

  // What the container has written, to `output` or `error`.
  void publish(attach_packet stream, std::string_view bytes);
  // The container has ended; nobody may come any more.
  void end(int code);
  // Somebody has not taken all yet.
  bool is_behind() const noexcept { return !backlog_.empty(); }
  // Waits until all have taken all, `kubelet_defaults::attach_farewell` at most.
  void farewell();

 private:
  struct attachment {
    runtime::unique_fd socket;
    bool joined = false, has_input = false;
    bool listens = true;         // false: it is told that there is no more input
    bool gone = false;           // the other side: what it sent before is still taken
    std::uint64_t next = 0;      // of the backlog
    std::string unwritten = {};  // input
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
  std::deque<std::string> backlog_;  // packets that somebody has not taken
  std::uint64_t first_ = 0;          // the number of the first of them
  std::size_t backlog_bytes_ = 0;
};

}  // namespace troupe::actors
