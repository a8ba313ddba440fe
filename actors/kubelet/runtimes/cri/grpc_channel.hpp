// A gRPC client for a server on a Unix socket: one HTTP/2 connection, opened by the first call and
// reopened by the first call after it was lost. It does not use the gRPC library, so an idle node
// keeps only the connection in memory (docs/decisions/0047-containers-by-cri.md).
//
// All state belongs to the loop's thread, where all answers are delivered. Thread safe. Each call
// is answered once, within its timeout; none after the loop has stopped.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "actors/kubelet/os/event_loop.hpp"

namespace troupe::actors {

// The gRPC status codes that callers distinguish.
enum class grpc_code : int {
  ok = 0,
  unknown = 2,
  deadline_exceeded = 4,
  not_found = 5,
  resource_exhausted = 8,
  no_such_method = 12,
  internal = 13,
  unavailable = 14,
};

struct grpc_error {
  grpc_code code = grpc_code::unknown;
  std::string message;
};

// As Go prints the error: "rpc error: code = NotFound desc = MESSAGE".
std::string text_of(const grpc_error& error);

using grpc_answer = std::function<void(tl::expected<std::string, grpc_error>)>;
using grpc_metadata = std::vector<std::pair<std::string, std::string>>;

class grpc_channel {
 public:
  grpc_channel(std::shared_ptr<event_loop> loop, std::string socket);
  // The loop must have stopped.
  ~grpc_channel();

  // `method` is e.g. "runtime.v1.RuntimeService/Version", `request` a serialized message. Calls
  // beyond `cri_defaults::calls` fail at once.
  void call(std::string method, std::string request, std::chrono::milliseconds timeout,
            grpc_answer done);
  // A call with a stream of answers; `ended` is called when the stream has ended.
  void subscribe(std::string method, std::string request, grpc_metadata metadata,
                 std::function<void(std::string_view)> message,
                 std::function<void(grpc_error)> ended);

 private:
  struct connection;
  const std::shared_ptr<connection> connection_;
};

}  // namespace troupe::actors
