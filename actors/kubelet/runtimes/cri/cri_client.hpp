// Typed calls of the container runtime interface. Threads and errors as in grpc_channel.hpp.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "actors/core/metrics.hpp"
#include "actors/kubelet/runtimes/cri/cri.pb.h"
#include "actors/kubelet/runtimes/cri/defaults.hpp"
#include "actors/kubelet/runtimes/cri/grpc_channel.hpp"

namespace troupe::actors {

template <class Response>
using cri_result = tl::expected<Response, grpc_error>;

// Counts a call in find_runtime_operation() when it has been answered.
class counted_call {
 public:
  explicit counted_call(std::string_view method)
      : operation_{find_runtime_operation(method)}, began_{std::chrono::steady_clock::now()} {}
  void answered(bool well) const noexcept {
    if (operation_ == nullptr) return;
    operation_->times.add(std::chrono::steady_clock::now() - began_);
    if (!well) operation_->failed.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  runtime_operation* operation_;
  std::chrono::steady_clock::time_point began_;
};

class cri_client {
 public:
  cri_client(std::shared_ptr<event_loop> loop, std::string socket)
      : channel_{std::move(loop), std::move(socket)} {}

  grpc_channel& channel() noexcept { return channel_; }

  // `method` of the runtime service, e.g. "Version".
  template <class Response, class Request, class Done>
  void runtime(const char* method, const Request& request, Done done,
               std::chrono::milliseconds timeout = cri_defaults::call_timeout) {
    call<Response>("runtime.v1.RuntimeService/", method, request, std::move(done), timeout);
  }
  template <class Response, class Request, class Done>
  void images(const char* method, const Request& request, Done done,
              std::chrono::milliseconds timeout = cri_defaults::call_timeout) {
    call<Response>("runtime.v1.ImageService/", method, request, std::move(done), timeout);
  }

 private:
  template <class Response, class Request, class Done>
  void call(const char* service, const char* method, const Request& request, Done done,
            std::chrono::milliseconds timeout) {
    channel_.call(std::string{service} + method, request.SerializeAsString(), timeout,
                  [done = std::move(done), counted = counted_call{method}](
                      tl::expected<std::string, grpc_error> bytes) mutable {
                    counted.answered(bytes.has_value());
                    if (!bytes)
                      return done(cri_result<Response>{tl::make_unexpected(bytes.error())});
                    Response response;
                    if (!response.ParseFromString(*bytes))
                      return done(cri_result<Response>{tl::make_unexpected(grpc_error{
                          grpc_code::internal, "the container runtime's answer is no message"})});
                    done(cri_result<Response>{std::move(response)});
                  });
  }

  grpc_channel channel_;
};

// Blocks until the answer: neither on an actor's thread nor on the loop's.
template <class Response, class Request>
cri_result<Response> wait_for(cri_client& client, const char* method, const Request& request,
                              std::chrono::milliseconds timeout = cri_defaults::call_timeout) {
  auto answer = std::make_shared<std::promise<cri_result<Response>>>();
  auto answered = answer->get_future();
  client.runtime<Response>(
      method, request, [answer](const auto& result) { answer->set_value(result); }, timeout);
  return answered.get();
}

}  // namespace troupe::actors
