// The output of one end of a link: items (of FromNode or ToNode) are put into frames and given to
// the session as far as it has room. Belongs to one actor.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <deque>
#include <string>

#include "runtime/link/link.hpp"

namespace troupe::actors {

class frame_sender {
 public:
  explicit frame_sender(runtime::link::session_ptr to) : to_{std::move(to)} {}

  // False for an item that no frame can hold: it is left out.
  bool add(const google::protobuf::MessageLite& item);
  // Gives the session what it has room for. False when something is left: try again after
  // `link_defaults::backlog_round`.
  bool flush();
  // Waiting here, in bytes; above `link_defaults::backlog_limit_bytes` the peer does not read.
  std::size_t backlog() const noexcept { return waiting_ + current_.size(); }
  // Whether more of a stream into a container may be added (`link_defaults::streams_ahead_bytes`).
  bool has_room_for_streams() const;

 private:
  void seal();

  runtime::link::session_ptr to_;
  std::string current_;
  std::deque<std::string> ready_;
  std::size_t waiting_ = 0;  // in `ready_`
};

}  // namespace troupe::actors
