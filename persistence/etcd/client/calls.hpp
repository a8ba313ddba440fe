// Asynchronous gRPC calls on one completion queue; its thread runs the callbacks.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace troupe::persistence::etcd {

// An entry of the completion queue. The queue deletes it when `happened` returns true.
class tag {
 public:
  virtual ~tag() = default;
  // Runs on the thread of the queue. True: the queue deletes this object.
  virtual bool happened(bool ok) = 0;
  // Makes `happened` run soon. Any thread may call it while the tag is registered.
  virtual void cancel() = 0;
};

class call_queue {
 public:
  call_queue();
  ~call_queue();
  // Cancels the calls under way. Their callbacks do not run any more.
  void close();
  call_queue(const call_queue&) = delete;
  call_queue& operator=(const call_queue&) = delete;

  // Calls `start`, which begins an operation with the tag's address. Does nothing when closing.
  void begin(std::unique_ptr<tag> next,
             const std::function<void(grpc::CompletionQueue&, tag*)>& start);

  // A unary call.
  template <class Response>
  void call(std::chrono::milliseconds limit,
            const std::function<std::unique_ptr<grpc::ClientAsyncResponseReader<Response>>(
                grpc::ClientContext&, grpc::CompletionQueue&)>& prepare,
            std::function<void(const grpc::Status&, Response&)> done);
  void call_later(std::chrono::milliseconds delay, std::function<void()> work);

  bool closing() const { return closing_; }

 private:
  void run();

  grpc::CompletionQueue queue_;
  std::atomic<bool> closing_{false};
  std::mutex mutex_;
  std::set<tag*> under_way_;
  std::size_t starting_ = 0;  // number of calls in begin()
  std::condition_variable started_;
  std::thread thread_;
};

template <class Response>
class unary_call final : public tag {
 public:
  unary_call(call_queue& queue, std::function<void(const grpc::Status&, Response&)> done)
      : queue_{queue}, done_{std::move(done)} {}

  void start(std::chrono::milliseconds limit, const auto& prepare, grpc::CompletionQueue& queue) {
    context_.set_deadline(std::chrono::system_clock::now() + limit);
    reader_ = prepare(context_, queue);
    reader_->StartCall();
    reader_->Finish(&response_, &status_, this);
  }
  bool happened(bool) override {
    if (!queue_.closing()) done_(status_, response_);
    return true;
  }
  void cancel() override { context_.TryCancel(); }

 private:
  call_queue& queue_;
  std::function<void(const grpc::Status&, Response&)> done_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
  Response response_;
  grpc::Status status_;
};

template <class Response>
void call_queue::call(
    std::chrono::milliseconds limit,
    const std::function<std::unique_ptr<grpc::ClientAsyncResponseReader<Response>>(
        grpc::ClientContext&, grpc::CompletionQueue&)>& prepare,
    std::function<void(const grpc::Status&, Response&)> done) {
  auto made = std::make_unique<unary_call<Response>>(*this, std::move(done));
  auto& mine = *made;
  begin(std::move(made),
        [&](grpc::CompletionQueue& queue, tag*) { mine.start(limit, prepare, queue); });
}

}  // namespace troupe::persistence::etcd
