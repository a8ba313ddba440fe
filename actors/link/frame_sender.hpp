// The output of one end of a link: puts items (of FromNode or ToNode) into frames and gives them to
// the session while it has room. Belongs to one actor.
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

  // Returns false if the item does not fit into a frame: it is dropped.
  bool add(const google::protobuf::MessageLite& item);
  // Sends frames while the session has room. Returns false if some are left: call again after
  // `link_defaults::backlog_round`.
  bool flush();
  // Queued bytes; above `link_defaults::backlog_limit_bytes` the peer is considered stuck.
  std::size_t backlog() const noexcept { return waiting_ + current_.size(); }
  // Whether another item of container streams may be added (`link_defaults::streams_ahead_bytes`).
  bool has_room_for_streams() const;

 private:
  void seal();

  runtime::link::session_ptr to_;
  std::string current_;
  std::deque<std::string> ready_;
  std::size_t waiting_ = 0;  // in `ready_`
};

}  // namespace troupe::actors
