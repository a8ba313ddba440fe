// A terminal with a program in it, as a person sees it: what is typed goes in, and the screen is
// kept as an xterm would show it, as far as libedit and the console draw. What is waited for has a
// deadline; the program goes with the object.
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

  // The program of this project, with these arguments and this home folder.
  terminal(std::vector<std::string> arguments, const std::string& home, size wanted);
  ~terminal();
  terminal(const terminal&) = delete;

  void type(std::string_view keys);
  void resize(size wanted);
  // Waits until the screen holds the text, or ten seconds.
  bool shows(const std::string& text);
  // … until the prompt is the last that it shows in answer to what was typed.
  bool prompts();
  bool comes_to(const std::function<bool()>& condition);
  // The rows without the blanks at their ends.
  std::string screen() const;
  // Full-screen programs have a screen of their own beside the one with the prompt.
  bool full_screen() const { return full_screen_; }
  // The exit code, or minus the number of the signal that ended it.
  int wait();
  pid_t id() const { return id_; }
  // Whole lines are read, as by a program that has no prompt: a command of the console runs.
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
  bool answered_ = false;  // something was shown since the last key
  std::string sequence_;   // of an escape that has begun
};

}  // namespace troupe::tools::test
