#include "persistence/etcd/client/calls.hpp"

#include <pthread.h>

namespace troupe::persistence::etcd {

namespace {

class alarm final : public tag {
 public:
  alarm(call_queue& queue, std::function<void()> work) : queue_{queue}, work_{std::move(work)} {}

  void start(grpc::CompletionQueue& queue, std::chrono::milliseconds delay) {
    // gRPC's timers have a resolution of 1 ms: now() might fire one later.
    using time_point = std::chrono::system_clock::time_point;
    const auto due = delay.count() > 0 ? std::chrono::system_clock::now() + delay : time_point{};
    alarm_.Set(&queue, due, static_cast<tag*>(this));
  }
  bool happened(bool) override {
    if (!queue_.closing()) work_();
    return true;
  }
  void cancel() override { alarm_.Cancel(); }

 private:
  call_queue& queue_;
  std::function<void()> work_;
  grpc::Alarm alarm_;
};

}  // namespace

call_queue::call_queue() : thread_{[this] { run(); }} {
  ::pthread_setname_np(thread_.native_handle(), "etcd-log");
}

// No operation may start on a queue that is shut down, and a cancelled stream must still be
// finished: so the thread runs until no operation is under way.
void call_queue::close() {
  if (!thread_.joinable()) return;
  // Its cancellation wakes the thread if no other operation is under way.
  call_later(std::chrono::hours{1}, [] {});
  {
    std::unique_lock lock{mutex_};
    closing_ = true;
    started_.wait(lock, [this] { return starting_ == 0; });
    for (auto* each : under_way_)
      each->cancel();
  }
  thread_.join();
}

call_queue::~call_queue() {
  close();
  queue_.Shutdown();
  void* completed = nullptr;
  for (bool ok = false; queue_.Next(&completed, &ok);) {
  }
}

void call_queue::begin(std::unique_ptr<tag> next,
                       const std::function<void(grpc::CompletionQueue&, tag*)>& start) {
  auto* const mine = next.get();
  {
    const std::lock_guard lock{mutex_};
    if (closing_) return;
    under_way_.insert(next.release());
    ++starting_;
  }
  // Outside the lock: it writes to the socket.
  start(queue_, mine);
  const std::lock_guard lock{mutex_};
  if (--starting_ == 0 && closing_) started_.notify_all();
}

void call_queue::call_later(std::chrono::milliseconds delay, std::function<void()> work) {
  auto made = std::make_unique<alarm>(*this, std::move(work));
  auto& mine = *made;
  begin(std::move(made), [&](grpc::CompletionQueue& queue, tag*) { mine.start(queue, delay); });
}

void call_queue::run() {
  void* completed = nullptr;
  bool ok = false;
  while (queue_.Next(&completed, &ok)) {
    std::unique_ptr<tag> mine{static_cast<tag*>(completed)};
    const bool ended = mine->happened(ok);
    const std::lock_guard lock{mutex_};
    if (ended)
      under_way_.erase(mine.get());
    else
      static_cast<void>(mine.release());
    if (closing_ && under_way_.empty()) return;
  }
}

}  // namespace troupe::persistence::etcd
