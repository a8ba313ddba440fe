// A connected socket that is read and written without blocking, for streams that are pulled
// (runtime/streams.hpp). Its functions are called, and answer, on the thread of its event loop;
// what the loop waits for keeps it alive until `close`.
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
  // `socket` is non-blocking, and a stream or one of packets, which have `part_bytes` at most.
  duplex_socket(std::shared_ptr<event_loop> loop, runtime::unique_fd socket,
                std::size_t part_bytes = kubelet_defaults::exec_part_bytes + 1);

  // One at a time. At most `part_bytes`, or one packet; empty: the end, as often as it is asked.
  void read(std::function<void(std::string)> done);
  // One at a time; each part is a packet where the socket has packets. Answered when the system has
  // taken all of it. False: the other side reads no more, or `cancel_write`.
  void write(std::deque<std::string> parts, std::function<void(bool)> done);
  void cancel_write();
  // A packet ahead of what is not yet written, in place of one with the same first byte. Few kinds.
  void send_first(std::string packet);
  // The end of what is written.
  void shut_output();
  // Drops what was asked for.
  void close();

 private:
  void pull();
  void push();
  std::string* next_part();
  void end_write(bool well);

  const std::shared_ptr<event_loop> loop_;
  const std::size_t part_bytes_;
  // Two descriptors of one socket, so that both directions can be waited for.
  runtime::unique_fd in_, out_;
  bool was_reset_ = false, broken_ = false;
  std::function<void(std::string)> reader_;
  std::deque<std::string> first_, parts_;
  std::function<void(bool)> writer_;
};

}  // namespace troupe::actors
