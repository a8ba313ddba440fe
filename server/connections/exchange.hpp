// One request and its answer, between the thread of its connection and whoever answers.
//
// Shared: the connection holds it until the answer is out or the client has gone; request_ptr,
// responder and stream hold it for the handler. The functions for the handler's side are thread
// safe; those for the connection's side belong to its thread. Callbacks run without the lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "server/connections/task_queue.hpp"
#include "server/flow_control/body_budget.hpp"
#include "server/flow_control/stream_budget.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

class exchange : public std::enable_shared_from_this<exchange> {
 public:
  // The connection; called on its thread when take() has something.
  class owner {
   public:
    virtual void on_exchange(exchange& exchange) = 0;

   protected:
    ~owner() = default;
  };

  exchange(std::shared_ptr<task_queue> queue, owner& connection,
           std::shared_ptr<stream_budget> streams);

  // -- for the handler, any thread --------------------------------------------------------------

  // The first of these two counts; false: there was an answer already, or nobody is there.
  bool respond(response answer);
  bool start_stream(response head, stream_events events);
  bool write(piece chunk);
  void end();
  void cut();
  void resume();
  // Runs it on the thread of the connection, which may be gone; here when the server has stopped.
  void run(std::function<void()> work);
  bool gone() const noexcept {
    return left_ || state_.load(std::memory_order_relaxed) == state::over;
  }
  std::size_t waiting_bytes() const;
  bool open() const noexcept { return state_.load(std::memory_order_relaxed) == state::streaming; }
  bool unanswered() const noexcept {
    return state_.load(std::memory_order_relaxed) == state::waiting;
  }

  // -- for the connection, its thread -----------------------------------------------------------

  server::request& request() noexcept { return request_; }
  void hold(std::shared_ptr<void> permit) { permit_ = std::move(permit); }
  // For the body, while it comes; given back with the answer.
  std::unique_ptr<body_charge>& charge() noexcept { return charge_; }

  // What the request said is not needed any more; only when nobody else has it.
  void drop_request();

  // An answer instead of the handler's, which has not seen the request. No task is posted: the
  // caller looks with take().
  void answer_here(response answer);
  // Calls the handler. Answers given meanwhile make no task: the caller looks with take() after it.
  void serve(handler& target);

  // What has come from the handler since the last call.
  struct output {
    std::optional<response> head;
    bool streams = false;  // more may follow the head's content
    std::vector<piece> chunks;
    bool tunnels = false;  // a stream that also takes what the client sends
    bool resumed = false;  // and may be given more
    bool ended = false;    // nothing follows any more
    bool overrun = false;  // cut the stream off
    bool cut = false;      // the same, by will of the handler
  };
  output take();
  // What the client sent through the tunnel; false: no more until `resumed`.
  bool receive(std::string_view bytes);
  // So much of the stream's bytes has left; may call `writable`.
  void sent(std::size_t bytes);
  // The client seems to have gone: gives the permit back, and gone() says so.
  void client_left();
  // The connection is done with it or the client has gone; may call `closed`. No on_exchange after.
  void detach();

 private:
  enum class state : std::uint8_t { waiting, answered, streaming, ended, over };
  // With the lock held: true when a task must be posted after it is released.
  bool must_notify();
  void notify();
  // Around work on the thread of the connection: what it answers makes no task. True: there is
  // some.
  void begin_work();
  bool end_work();

  server::request request_;
  const std::shared_ptr<task_queue> queue_;
  owner* owner_;
  const std::shared_ptr<stream_budget> streams_;
  std::shared_ptr<void> permit_;
  std::unique_ptr<body_charge> charge_;  // the connection's thread alone uses it

  mutable std::mutex mutex_;
  std::atomic<state> state_ = state::waiting;  // written under the lock
  std::atomic<bool> left_ = false;
  bool notified_ = false;
  bool serving_ = false;
  bool starved_ = false;  // write() said false; `writable` is owed
  bool overrun_ = false, cut_ = false;
  bool resumed_ = false;
  std::optional<response> head_;
  std::vector<piece> chunks_;
  std::size_t buffered_bytes_ = 0;  // counted in streams_ too, until detach()
  stream_events events_;
};

// Shared by the copies of a responder: when the last goes, the request has an answer.
class exchange_duty {
 public:
  explicit exchange_duty(std::shared_ptr<exchange> exchange) : exchange_{std::move(exchange)} {}
  exchange_duty(const exchange_duty&) = delete;
  exchange_duty& operator=(const exchange_duty&) = delete;
  ~exchange_duty();

  const std::shared_ptr<exchange>& shared_exchange() const noexcept { return exchange_; }

 private:
  const std::shared_ptr<exchange> exchange_;
};

// Shared by the copies of a stream: when the last goes, the stream ends.
class stream_duty {
 public:
  explicit stream_duty(std::shared_ptr<exchange> exchange) : exchange_{std::move(exchange)} {}
  stream_duty(const stream_duty&) = delete;
  stream_duty& operator=(const stream_duty&) = delete;
  ~stream_duty() { exchange_->end(); }

  const std::shared_ptr<exchange>& shared_exchange() const noexcept { return exchange_; }

 private:
  const std::shared_ptr<exchange> exchange_;
};

}  // namespace troupe::server
