// The command line: a tree of subcommands, one of which is selected and run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace troupe::tools {

namespace exit_code {
inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int usage = 2;
}  // namespace exit_code

// Prints "troupe: PROBLEM" on stderr and returns the code.
int fail_with(std::string_view problem, int code = exit_code::failed);
// exit_code::done, or fail_with() the error.
int exit_code_of(const tl::expected<void, std::string>& done);

// "troupe config print"
std::string full_name(const CLI::App& app);
std::string help_of(const CLI::App& app);

class program {
 public:
  // The function that runs a subcommand after its flags were parsed; returns an exit code.
  using action = std::function<int()>;

  program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  // Adds a subcommand. The type names of its options define completion: "a|b" offers these words,
  // "DIR" folders, "FILE" files, "SUBCOMMAND" the program's subcommands.
  CLI::App& add(std::string name, std::string about, action run);
  // Adds a subcommand of `parent`.
  CLI::App& add(CLI::App& parent, std::string name, std::string about, action run);
  // Adds a subcommand that only has subcommands: without one of them the command line is invalid.
  CLI::App& add_group(const std::string& name, std::string about);

  // The text that --version prints.
  void version(std::string text);

  // Parses the arguments and runs the selected subcommand; without one, prints help. An invalid
  // command line is one line on stderr and exit_code::usage; if output cannot be written, failed.
  int run(int argc, const char* const* argv);

  const CLI::App& root() const { return app_; }

 private:
  int choose(int argc, const char* const* argv);

  CLI::App app_;
  action chosen_;
};

}  // namespace troupe::tools
