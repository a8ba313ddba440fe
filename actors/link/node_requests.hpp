// Requests of the control plane to a joined node: a container's output, a stream into a container,
// a console view, resource usage. Sent to the actor `links` (node_links.hpp), which forwards them
// to the node's session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/kubelet/runtime/streams.hpp"
#include "actors/kubelet/runtime/usage.hpp"
#include "runtime/actor_ref.hpp"

namespace troupe::actors {

// Opens the log of a container, sent to the reader in `log_part`s within its credit. Their sender
// accepts `more_log`, `finish_log` and `close_log`, and notices when the reader ends.
struct open_log {
  std::uint64_t id = 0;  // chosen by the reader, unique to it
  std::string node = {};
  log_address from = {};
  log_query query = {};
  bool follow = false;  // after the end of the log, until `finish_log`
  std::uint32_t credit = 1;
  runtime::actor_ref reader = {};  // filled in by `links`
};

struct more_log {
  std::uint64_t id = 0;
  std::uint32_t credit = 0;
};

// The container has ended: the log is complete now.
struct finish_log {
  std::uint64_t id = 0;
};

struct close_log {
  std::uint64_t id = 0;
};

// To the reader. The last part has `ended`, with a `problem` if it is incomplete.
struct log_part {
  std::uint64_t id = 0;
  std::string text;
  bool ended = false;
  std::string problem = {};
};

// A stream into a container: a command in it, its main process, or a port of its pod.
struct stream_target {
  enum class kind : std::uint8_t { exec, attach, port };
  kind to = kind::exec;
  std::string container = {};  // id as in the pod's status
  exec_request exec = {};      // command is empty for the main process
  std::string pod_uid = {};    // of a port
  int port = 0;
};

// Answered by `stream_opened` (linked_stream.hpp) within `link_defaults::stream_open_wait`.
struct open_stream {
  std::string node;
  stream_target target;
};

// A console request to a node; answered by `console_view`.
struct console_request {
  std::string target;  // path after /console/api/
  bool changes = false;
  std::string user;
};

struct ask_console {
  std::string node;
  console_request request;
};

struct console_view {
  // HTTP status; 0: the node could not be asked, and `body` is the reason in one line.
  int status = 0;
  std::string body;
  std::optional<std::uint64_t> total = {};
};

// Asks for the usage of a node and its containers; answered by `node_usage`.
struct ask_usage {
  std::string node;
};

}  // namespace troupe::actors
