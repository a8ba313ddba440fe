// A stream into a container of a joined machine, as the control plane has it: between its handle,
// on any thread, and the session of the node, an actor.
//
// It keeps what the node has sent and nobody has read, never more than the node has credit for, and
// what the session is to send, which that fetches when the link has room. When the session ends,
// the stream does: what has come can be read, then its end with `link_defaults::lost_stream_code`
// and the reason as bytes; a write is answered by false.
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

// To the session: a stream has orders for the node. One is under way for each stream.
struct stream_work {
  std::uint64_t ask = 0;
};

// Thread safe. Answers are given without a lock: within the call where they are known, else in the
// session.
class linked_stream {
 public:
  struct window_size {
    int rows = 0, columns = 0;
  };
  // What the session is to tell the node.
  struct orders {
    std::string input = {};  // one piece
    bool end_input = false;  // after that
    std::optional<window_size> size = {};
    std::uint32_t credit = 0;
    bool close = false;  // nothing else then
  };

  linked_stream(std::uint64_t ask, runtime::actor_ref session);

  // -- for its handle (streams.hpp) ---------------------------------------------------------------

  void read(std::function<void(exec_part)> done);
  void write(std::string bytes, std::function<void(bool)> done);
  void close_input();
  void resize(int rows, int columns);
  // Nothing is answered any more.
  void close();

  // -- for its session ----------------------------------------------------------------------------

  // So many bytes of input may be sent.
  void opened(std::uint32_t credit);
  // Both are false for what the node had no credit for, or was never sent: no correct node does it.
  bool output(exec_part::kind from, const std::string& text);
  bool input_taken(std::uint32_t bytes, bool refused);
  void end(int code, std::string reason);
  bool has_orders() const;
  orders take_orders();

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
  bool called_ = false;  // the session knows that there are orders
  bool closed_ = false;
  std::optional<ending> ended_;
  // Output: one of the two was there first.
  std::string output_, error_;
  bool error_first_ = false;
  std::size_t owed_ = 0;  // read, and not given back as credit
  std::size_t room_;      // of the node's credit
  std::function<void(exec_part)> reader_;
  // Input.
  std::string unsent_;
  std::size_t sent_ = 0;       // of it
  std::size_t under_way_ = 0;  // bytes that the node has not taken
  std::size_t credit_ = 0;
  bool end_wanted_ = false, end_sent_ = false, refused_ = false;
  std::optional<window_size> size_;
  std::function<void(bool)> writer_;
};

// The end that a handle holds: the stream is closed with it.
class linked_end {
 public:
  explicit linked_end(std::shared_ptr<linked_stream> stream) : stream_{std::move(stream)} {}
  linked_end(const linked_end&) = delete;
  linked_end& operator=(const linked_end&) = delete;
  ~linked_end() { stream_->close(); }

  // A copy, since an answer may destroy the handle.
  std::shared_ptr<linked_stream> stream() const { return stream_; }

 private:
  const std::shared_ptr<linked_stream> stream_;
};

// The answer to open_stream.
struct stream_opened {
  runtime_result<std::shared_ptr<linked_end>> result;
};

}  // namespace troupe::actors
