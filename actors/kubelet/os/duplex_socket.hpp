// A connected socket with non-blocking reads and writes, for pulled streams (runtime/streams.hpp).
// Its functions are called, and answer, on the thread of its event loop; a pending wait of the loop
// keeps it alive until `close`.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/event_loop.hpp"

namespace troupe::actors {

class duplex_socket : public std::enable_shared_from_this<duplex_socket> {
 public:
  // `socket`: non-blocking, a stream socket or one with packets of at most `part_bytes`.
  duplex_socket(std::shared_ptr<event_loop> loop, runtime::unique_fd socket,
                std::size_t part_bytes = kubelet_defaults::exec_part_bytes + 1);

  // One call at a time. Returns at most `part_bytes`, or one packet; empty: the end, on each call.
  void read(std::function<void(std::string)> done);
  // One call at a time; on a packet socket each part is a packet. Answered when the system has
  // taken all parts. False: the peer reads no more, or `cancel_write` was called.
  void write(std::deque<std::string> parts, std::function<void(bool)> done);
  void cancel_write();
  // Sends a packet before the pending ones; replaces a pending one with the same first byte.
  void send_first(std::string packet);
  // Shuts down the writing side.
  void shut_output();
  // Closes the socket and drops pending calls.
  void close();

 private:
  void pull();
  void push();
  std::string* next_part();
  void end_write(bool well);

  const std::shared_ptr<event_loop> loop_;
  const std::size_t part_bytes_;
  // Two descriptors of one socket, because the loop waits for each direction separately.
  runtime::unique_fd in_, out_;
  bool was_reset_ = false, broken_ = false;
  std::function<void(std::string)> reader_;
  std::deque<std::string> first_, parts_;
  std::function<void(bool)> writer_;
};

}  // namespace troupe::actors
