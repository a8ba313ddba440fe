// Calls of the container runtime interface with their messages. As grpc_channel.hpp says.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "actors/kubelet/runtimes/cri/cri.pb.h"
#include "actors/kubelet/runtimes/cri/defaults.hpp"
#include "actors/kubelet/runtimes/cri/grpc_channel.hpp"

namespace troupe::actors {

template <class Response>
using cri_result = tl::expected<Response, grpc_error>;

class cri_client {
 public:
  cri_client(std::shared_ptr<event_loop> loop, std::string socket)
      : channel_{std::move(loop), std::move(socket)} {}

  grpc_channel& channel() noexcept { return channel_; }

  // `method` of the runtime's service, as "Version".
  template <class Response, class Request, class Done>
  void runtime(const char* method, const Request& request, Done done,
               std::chrono::milliseconds timeout = cri_defaults::call_timeout) {
    call<Response>(std::string{"runtime.v1.RuntimeService/"} + method, request, std::move(done),
                   timeout);
  }
  template <class Response, class Request, class Done>
  void images(const char* method, const Request& request, Done done,
              std::chrono::milliseconds timeout = cri_defaults::call_timeout) {
    call<Response>(std::string{"runtime.v1.ImageService/"} + method, request, std::move(done),
                   timeout);
  }

 private:
  template <class Response, class Request, class Done>
  void call(std::string method, const Request& request, Done done,
            std::chrono::milliseconds timeout) {
    channel_.call(std::move(method), request.SerializeAsString(), timeout,
                  [done = std::move(done)](tl::expected<std::string, grpc_error> bytes) mutable {
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

// Waits for the answer: neither on an actor's thread nor on the loop's.
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
