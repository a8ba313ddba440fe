// The consoles of the other machines of the cluster.
//
// The control plane's console sends questions through `other_nodes`, which the program implements
// with the links of the joined nodes. On a joined node a `node_console` (node_console.hpp) answers
// them; question and answer are passed unchanged. They are plain values; the link defines their
// encoding.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/clock.hpp"
#include "server/http/query.hpp"

namespace troupe::server {

struct console_question {
  // The path after /console/api/, e.g. "actors?kind=pod&top=3"; escaped as in a URL.
  std::string target;
  // A command (kill, pause …) instead of a view; `user` is the API user who gave it.
  bool changes = false;
  std::string user = {};
};

struct console_answer {
  int status = 200;  // HTTP status
  // JSON, or the format requested by `as`; if status is not 200, a Status document in
  // JSON.
  std::string body;
  std::optional<std::uint64_t> total;  // number of all rows, if the body has only a part of them
};

// The target for another node, from the query that named the node.
std::string target_of(std::string_view view, const query_string& query);

// An answer with an error: a Status document with a message for users.
console_answer console_failure(int status, std::string message);

// A link as shown by `cluster`; counters start with the current connection.
struct node_link {
  std::string node;
  std::string peer;  // its address
  bool connected = false;
  runtime::duration age{0};  // in the current state
  std::uint64_t messages_in = 0, messages_out = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t queued_bytes = 0;  // waiting to be sent
};

// Thread safe.
class other_nodes {
 public:
  using answered = std::function<void(console_answer)>;

  virtual ~other_nodes() = default;
  // Calls `done` exactly once, on any thread, possibly in this call, within `deadline`. Answers
  // longer than `limit_bytes` may be refused. Failures are console_failure: 404 for a node without
  // a link, 503 for a link that is down, 504 after the deadline, 413 for an answer that is too
  // long.
  virtual void ask(const std::string& node, console_question question,
                   std::chrono::milliseconds deadline, std::size_t limit_bytes, answered done) = 0;
  // All links, including those that are down, by name.
  virtual std::vector<node_link> links() const = 0;
};

}  // namespace troupe::server
