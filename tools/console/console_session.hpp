// The console: runs one command, or prompts for commands in a loop.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tools/console/console_client.hpp"

namespace troupe::tools {

struct console_options {
  std::string output = "text";  // text, json, yaml
  bool allow_control = false;
  std::string node;  // shows this node's actors if a command names none; empty: the server's own
};

class console_session {
 public:
  console_session(console_client& node, console_options options)
      : node_{node}, options_{std::move(options)} {}

  // Runs a line and prints the result; returns an exit code. `live`: at a terminal, where `top`
  // refreshes until q.
  int run(const std::string& line, bool live);
  // Prompts until the end of the input or quit (console_prompt.cpp). For a script the exit code is
  // that of the first line that failed; at a terminal it is always 0.
  int prompt();
  // Prints warnings that are new since the last call; false if there are none.
  bool print_new_warnings();

  // Names for completion, from the node: a JSON array of strings.
  tl::expected<std::string, std::string> names(const std::string& prefix, bool of_objects);

 private:
  using answer = tl::expected<std::string, std::string>;
  // Cancels the request when `is_cancelled` returns true; polled on this thread.
  answer ask(const console_request& request, const std::function<bool()>& is_cancelled);
  std::optional<std::string> read_line();
  console_request on_node(console_request request) const;
  int run_top(const console_request& request, bool live);
  int run_trace(const console_request& request);

  console_client& node_;
  const console_options options_;
  std::string warnings_;
};

// While one exists, Ctrl-C sets a flag and does not end the process. One thread.
class interrupt_watch {
 public:
  interrupt_watch();
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  static bool seen() noexcept;
  static void forget() noexcept;
};

}  // namespace troupe::tools
