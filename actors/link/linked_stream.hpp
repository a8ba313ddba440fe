// The control plane's side of a stream into a container of a joined machine: connects a handle, on
// any thread, with the node's session, an actor.
//
// It buffers the node's unread output, limited by the node's credit, and orders for the session,
// which fetches them when the link has room. When the session ends, so does the stream: received
// output can still be read, then the end with `link_defaults::lost_stream_code` and the reason as
// bytes; writes are answered with false.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "actors/kubelet/runtime/streams.hpp"
#include "runtime/actor_ref.hpp"

namespace troupe::actors {

// To the session: a stream has orders for the node. At most one is pending for each stream.
struct stream_work {
  std::uint64_t ask = 0;
};

// Thread safe. Callbacks run without a lock: within the call if the result is known, else in the
// session.
class linked_stream {
 public:
  struct window_size {
    int rows = 0, columns = 0;
  };
  // Messages that the session must send to the node.
  struct commands {
    std::string input = {};  // one piece
    bool end_input = false;  // after `input`
    std::optional<window_size> size = {};
    std::uint32_t credit = 0;
    bool close = false;  // then all other orders are ignored
  };

  linked_stream(std::uint64_t ask, runtime::actor_ref session);

  // -- for its handle (streams.hpp) ---------------------------------------------------------------

  void read(std::function<void(exec_part)> done);
  void write(std::string bytes, std::function<void(bool)> done);
  void close_input();
  void resize(int rows, int columns);
  // No callback is called any more.
  void close();

  // -- for its session ----------------------------------------------------------------------------

  // The node accepts so many bytes of input.
  void opened(std::uint32_t credit);
  // Both return false on a protocol error: output beyond the credit, or an ack of unsent bytes.
  bool output(exec_part::kind from, const std::string& text);
  bool input_taken(std::uint32_t bytes, bool refused);
  void end(int code, std::string reason);
  bool has_commands() const;
  commands take_commands();

 private:
  struct ending {
    int code = 0;
    std::string reason;
  };

  std::optional<exec_part> next_part();
  bool is_all_sent() const { return sent_ == unsent_.size(); }
  bool wants_session() const;
  void settle(std::unique_lock<std::mutex> lock);

  const std::uint64_t ask_;
  const runtime::actor_ref session_;
  mutable std::mutex mutex_;
  bool called_ = false;  // the session was notified of orders
  bool closed_ = false;
  std::optional<ending> ended_;
  // Output: `error_first_` says which of the two arrived first.
  std::string output_, error_;
  bool error_first_ = false;
  std::size_t owed_ = 0;  // bytes read, but not returned as credit yet
  std::size_t room_;      // rest of the node's credit
  std::function<void(exec_part)> reader_;
  // Input.
  std::string unsent_;
  std::size_t sent_ = 0;       // bytes of it
  std::size_t under_way_ = 0;  // bytes that the node has not acknowledged
  std::size_t credit_ = 0;
  bool end_wanted_ = false, end_sent_ = false, refused_ = false;
  std::optional<window_size> size_;
  std::function<void(bool)> writer_;
};

// The end of the stream that a handle owns; its destructor closes the stream.
class linked_end {
 public:
  explicit linked_end(std::shared_ptr<linked_stream> stream) : stream_{std::move(stream)} {}
  linked_end(const linked_end&) = delete;
  linked_end& operator=(const linked_end&) = delete;
  ~linked_end() { stream_->close(); }

  // Returns a copy, because a callback may destroy the handle.
  std::shared_ptr<linked_stream> stream() const { return stream_; }

 private:
  const std::shared_ptr<linked_stream> stream_;
};

// The answer to open_stream.
struct stream_opened {
  runtime_result<std::shared_ptr<linked_end>> result;
};

}  // namespace troupe::actors
