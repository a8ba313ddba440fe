#include "actors/link/frame_sender.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <utility>

#include "actors/link/defaults.hpp"

namespace troupe::actors {

namespace {

// Tag of field 1, length-delimited: the items of both kinds of frames. A frame is just the sequence
// of its items.
constexpr std::uint32_t items_tag = 1 << 3 | 2;
constexpr std::size_t item_head_bytes = 11;

}  // namespace

bool frame_sender::add(const google::protobuf::MessageLite& item) {
  const auto size = item.ByteSizeLong();
  if (size + item_head_bytes > runtime::link::defaults::frame_limit_bytes) return false;
  if (!current_.empty() && current_.size() + size > link_defaults::batch_bytes) seal();
  google::protobuf::io::StringOutputStream bytes{&current_};
  google::protobuf::io::CodedOutputStream out{&bytes};
  out.WriteTag(items_tag);
  out.WriteVarint32(static_cast<std::uint32_t>(size));
  item.SerializeWithCachedSizes(&out);
  return true;
}

bool frame_sender::flush() {
  if (!current_.empty()) seal();
  while (!ready_.empty()) {
    if (to_->stats().outbox_bytes >= link_defaults::outbox_high_bytes) return false;
    auto frame = std::move(ready_.front());
    ready_.pop_front();
    waiting_ -= frame.size();
    // Rejected only after the end of the session, of which both ends are notified.
    to_->send(std::move(frame));
  }
  return true;
}

bool frame_sender::has_room_for_streams() const {
  return backlog() + to_->stats().outbox_bytes < link_defaults::streams_ahead_bytes;
}

void frame_sender::seal() {
  waiting_ += current_.size();
  ready_.push_back(std::exchange(current_, {}));
}

}  // namespace troupe::actors
