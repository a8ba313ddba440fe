// The consoles of the other machines of the cluster.
//
// The console of the control plane asks through `other_nodes`, which the program makes from the
// links of the joined nodes. At the other end of a link stands a `node_console` (node_console.hpp):
// it takes the question as it came and its answer goes back as it is. Question and answer are
// plain values; how they travel is the link's affair.
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
  // What follows /console/api/, e.g. "actors?kind=pod&top=3"; escaped as in a URL.
  std::string target;
  // An order (kill, pause …) in the place of a view; who gives it is the user of the API.
  bool changes = false;
  std::string user = {};
};

struct console_answer {
  int status = 200;  // as of HTTP
  // JSON, or what `as` in the question asked for; a Status document in JSON where status is not
  // 200.
  std::string body;
  std::optional<std::uint64_t> total;  // of the rows, where the body has a part of them
};

// The target for another node, from the query that named it.
std::string target_of(std::string_view view, const query_string& query);

// The answer that says why there is none: a Status document for people.
console_answer console_failure(int status, std::string message);

// A link as `cluster` shows it; counters run from the beginning of the present connection.
struct node_link {
  std::string node;
  std::string peer;  // its address
  bool connected = false;
  runtime::duration age{0};  // in its present state
  std::uint64_t messages_in = 0, messages_out = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t queued_bytes = 0;  // wait to be sent
};

// Thread safe.
class other_nodes {
 public:
  using answered = std::function<void(console_answer)>;

  virtual ~other_nodes() = default;
  // `done` is called exactly once, on any thread, perhaps inside of this call, within `deadline`.
  // An answer longer than `limit_bytes` need not be carried. Failures are console_failure: 404 for
  // a node that has no link, 503 for a link that is down, 504 after the deadline, 413 for an answer
  // that is too long.
  virtual void ask(const std::string& node, console_question question,
                   std::chrono::milliseconds deadline, std::size_t limit_bytes, answered done) = 0;
  // The links there are, also those that are down just now, by name.
  virtual std::vector<node_link> links() const = 0;
};

}  // namespace troupe::server
