// A child process that runs a function or a program, with its output read through pipes. Every wait
// has a deadline; a child that is still running at the end is killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace troupe::tools::test {

// False, with the reason printed, if a fork of this process cannot have threads of its own.
bool can_fork_with_threads();

class child {
 public:
  // Runs `body` in a fork of this process, which must have no other threads; its result is the
  // exit code.
  explicit child(const std::function<int()>& body);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child();

  // Reads stdout until it contains `text`; false if the child ends, or is silent too long.
  bool says(const std::string& text);
  void signal(int number) const;
  // The exit code, or minus the number of the signal that ended it.
  int wait();

  pid_t id() const { return id_; }
  // Complete after wait().
  const std::string& out() const { return out_.text; }
  const std::string& err() const { return err_.text; }

 private:
  struct stream {
    int fd = -1;
    std::string text;
  };
  // Reads the available output; false at the end of both streams or after 90 s.
  bool read_some();

  pid_t id_ = -1;
  stream out_;
  stream err_;
};

struct process_result {
  int code = 0;
  std::string out;
  std::string err;
};

// Runs a program to its end, with only these environment variables.
process_result run(const std::vector<std::string>& command,
                   std::vector<std::string> environment = {});

// The same for this project's program, `troupe`.
process_result program(std::vector<std::string> arguments,
                       std::vector<std::string> environment = {});

// A time that the program promises, and in addition what twenty starts of it take on this machine
// now: both share the processor with other programs.
std::chrono::milliseconds promised(std::chrono::milliseconds time);

}  // namespace troupe::tools::test
