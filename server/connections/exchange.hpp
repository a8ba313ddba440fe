// One request and its response, between the connection's thread and the code that responds.
//
// Shared: the connection owns it until the response is sent or the client is gone;
// request_ptr, responder and stream own it for the handler. Functions of the handler's side
// are thread safe; those of the connection's side belong to its thread. Callbacks run without
// the lock.
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
  // The connection; called on its thread when take() has output.
  class owner {
   public:
    virtual void on_exchange(exchange& exchange) = 0;

   protected:
    ~owner() = default;
  };

  exchange(std::shared_ptr<task_queue> queue, owner& connection,
           std::shared_ptr<stream_budget> streams);

  // -- for the handler, any thread --------------------------------------------------------------

  // The first of these two wins; returns false after a response, or if the client is
  // gone.
  bool respond(response answer);
  bool start_stream(response head, stream_events events);
  bool write(piece chunk);
  void end();
  void cut();
  void resume();
  // Runs it on the connection's thread, even without the connection; here if the server
  // stopped.
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
  // For the body while it is received; released with the response.
  std::unique_ptr<body_charge>& charge() noexcept { return charge_; }

  // Drops the request's data when it is no longer needed, unless it is shared.
  void drop_request();

  // Responds instead of the handler, which has not seen the request. No task is posted: the caller
  // must call take().
  void answer_here(response answer);
  // Calls the handler. Responses given in this call post no task: the caller must call take().
  void serve(handler& target);

  // The handler's output since the last call.
  struct output {
    std::optional<response> head;
    bool streams = false;  // more may follow the head's content
    std::vector<piece> chunks;
    bool tunnels = false;  // the stream also delivers data from the client
    bool resumed = false;  // receive() may be called again
    bool ended = false;    // no output follows
    bool overrun = false;  // abort the stream: the client read too slowly
    bool cut = false;      // abort the stream: requested by the handler
  };
  output take();
  // Delivers data of the client; returns false if it must wait until `resumed`.
  bool receive(std::string_view bytes);
  // Reports that `bytes` of the stream were sent; may call `writable`.
  void sent(std::size_t bytes);
  // The client seems to be gone: releases the permit, and gone() returns true.
  void client_left();
  // The connection has finished or the client is gone; may call `closed`. No on_exchange
  // after.
  void detach();

 private:
  enum class state : std::uint8_t { waiting, answered, streaming, ended, over };
  // Requires the lock: returns true if a task must be posted after its release.
  bool must_notify();
  void notify();
  // Enclose work on the connection's thread, during which output posts no task. end_work() returns
  // true if there is output.
  void begin_work();
  bool end_work();

  server::request request_;
  const std::shared_ptr<task_queue> queue_;
  owner* owner_;
  const std::shared_ptr<stream_budget> streams_;
  std::shared_ptr<void> permit_;
  std::unique_ptr<body_charge> charge_;  // used by the connection's thread only

  mutable std::mutex mutex_;
  std::atomic<state> state_ = state::waiting;  // written under the lock
  std::atomic<bool> left_ = false;
  bool notified_ = false;
  bool serving_ = false;
  bool starved_ = false;  // write() returned false; `writable` must be called
  bool overrun_ = false, cut_ = false;
  bool resumed_ = false;
  std::optional<response> head_;
  std::vector<piece> chunks_;
  std::size_t buffered_bytes_ = 0;  // counted in streams_ too, until detach()
  stream_events events_;
};

// Shared by the copies of a responder: its destructor ensures that the request gets a response.
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

// Shared by the copies of a stream: its destructor ends the stream.
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
