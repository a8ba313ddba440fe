// Requests of the control plane to a joined node: the output of a container, a stream into one, a
// view for the console, what it uses. Sent to the actor `links` (node_links.hpp), which passes it
// to the node's session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/kubelet/runtime/streams.hpp"
#include "actors/kubelet/runtime/usage.hpp"
#include "runtime/actor_ref.hpp"

namespace troupe::actors {

// The output of a container comes to the sender as `log_part`s, as many as it gave credit for.
// Their sender takes `more_log`, `finish_log` and `close_log`. A reader that ends is noticed.
struct open_log {
  std::uint64_t id = 0;  // chosen by the reader, unique to it
  std::string node = {};
  log_address from = {};
  log_query query = {};
  bool follow = false;  // on past the end of the log, until `finish_log`
  std::uint32_t credit = 1;
  runtime::actor_ref reader = {};  // filled in by `links`
};

struct more_log {
  std::uint64_t id = 0;
  std::uint32_t credit = 0;
};

// The container has ended: what its log holds now is all.
struct finish_log {
  std::uint64_t id = 0;
};

struct close_log {
  std::uint64_t id = 0;
};

// To the reader. The last part says `ended`; a `problem` there is why there is no more.
struct log_part {
  std::uint64_t id = 0;
  std::string text;
  bool ended = false;
  std::string problem = {};
};

// A stream into a container: a command in it, its own process, or a port of its pod.
struct stream_target {
  enum class kind : std::uint8_t { exec, attach, port };
  kind to = kind::exec;
  std::string container = {};  // its id, as the pod's status has it
  exec_request exec = {};      // without a command for its own process
  std::string pod_uid = {};    // of a port
  int port = 0;
};

// Answered by `stream_opened` (linked_stream.hpp) within `link_defaults::stream_open_wait`.
struct open_stream {
  std::string node;
  stream_target target;
};

// A request of the console to a node; answered by `console_view`.
struct console_request {
  std::string target;  // what follows /console/api/
  bool changes = false;
  std::string user;
};

struct ask_console {
  std::string node;
  console_request request;
};

struct console_view {
  // As of HTTP; 0: the node could not be asked, and `body` says why in one line.
  int status = 0;
  std::string body;
  std::optional<std::uint64_t> total = {};
};

// Asks what a node and its containers use; answered by `node_usage`.
struct ask_usage {
  std::string node;
};

}  // namespace troupe::actors
