// The console: runs one command, or prompts for one after the other.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tools/console/console_client.hpp"

namespace troupe::tools {

struct console_options {
  std::string output = "text";  // text, json, yaml
  bool allow_control = false;
  std::string node;  // whose actors are shown where a command does not say; empty: the server's own
};

class console_session {
 public:
  console_session(console_client& node, console_options options)
      : node_{node}, options_{std::move(options)} {}

  // Runs a line and prints what comes of it; an exit code. `live`: at a terminal, where `top` goes
  // on until q.
  int run(const std::string& line, bool live);
  // Prompts until the end of the input or quit (console_prompt.cpp). The exit code is that of the
  // first line of a script that failed; at a terminal it is always 0.
  int prompt();
  // Prints the warnings that were not there the last time; false when there is none.
  bool print_new_warnings();

  // For completion, as the node answers: a JSON array of strings.
  tl::expected<std::string, std::string> names(const std::string& prefix, bool of_objects);

 private:
  using answer = tl::expected<std::string, std::string>;
  // Cuts the question off when `is_cancelled` says so; asked now and then, on this thread.
  answer ask(const console_request& request, const std::function<bool()>& is_cancelled);
  std::optional<std::string> read_line();
  console_request on_node(console_request request) const;
  int run_top(const console_request& request, bool live);
  int run_trace(const console_request& request);

  console_client& node_;
  const console_options options_;
  std::string warnings_;
};

// Sees Ctrl-C as long as one of them lives, in the place of the process's end. One thread.
class interrupt_watch {
 public:
  interrupt_watch();
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  static bool seen() noexcept;
  static void forget() noexcept;
};

}  // namespace troupe::tools
