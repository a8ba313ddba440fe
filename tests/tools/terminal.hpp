// A terminal that runs a program, as a user sees it: accepts input, and maintains the screen as an
// xterm would, as far as libedit and the console need it. Every wait has a deadline; the program
// ends with the object.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools::test {

class terminal {
 public:
  struct size {
    unsigned short rows = 24, columns = 80;
  };

  // Runs this project's program with these arguments and this home folder.
  terminal(std::vector<std::string> arguments, const std::string& home, size wanted);
  ~terminal();
  terminal(const terminal&) = delete;

  void type(std::string_view keys);
  void resize(size wanted);
  // Waits until the screen contains the text, or a minute.
  bool shows(const std::string& text);
  // … until the prompt is the last text that it shows in response to the input.
  bool prompts();
  bool comes_to(const std::function<bool()>& condition);
  // The rows without trailing blanks.
  std::string screen() const;
  // Full-screen programs use a second screen beside the one with the prompt.
  bool full_screen() const { return full_screen_; }
  // The exit code, or minus the number of the signal that ended it.
  int wait();
  pid_t id() const { return id_; }
  // Whether the program reads whole lines, without a prompt: a command of the console runs.
  bool reads_lines() const;

 private:
  bool read_some();
  void take(char c);
  void carry_out(char command);
  void new_line();

  pid_t id_ = -1;
  int fd_ = -1;
  size size_;
  std::vector<std::string> rows_;
  std::size_t row_ = 0, column_ = 0;
  bool full_screen_ = false;
  bool answered_ = false;  // the screen has changed since the last key
  std::string sequence_;   // of an unfinished escape sequence
};

}  // namespace troupe::tools::test
