#include "tools/terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "build_paths.hpp"

namespace troupe::tools::test {

namespace {

constexpr std::chrono::seconds patience{60};
constexpr std::chrono::milliseconds tick{20};
constexpr char escape = '\033';

}  // namespace

terminal::terminal(std::vector<std::string> arguments, const std::string& home, size wanted)
    : size_{wanted}, rows_(wanted.rows, std::string(wanted.columns, ' ')) {
  winsize window{wanted.rows, wanted.columns, 0, 0};
  id_ = ::forkpty(&fd_, nullptr, nullptr, &window);
  if (id_ < 0) throw std::runtime_error("forkpty");
  if (id_ > 0) return;
  ::setenv("TERM", "xterm", 1);
  ::setenv("HOME", home.c_str(), 1);
  std::string path = std::string{TROUPE_BINARY_DIR} + "/troupe";
  arguments.insert(arguments.begin(), "troupe");
  std::vector<char*> pointers;
  for (auto& each : arguments)
    pointers.push_back(each.data());
  pointers.push_back(nullptr);
  ::execv(path.c_str(), pointers.data());
  ::_exit(127);
}

terminal::~terminal() {
  if (id_ > 0) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  ::close(fd_);
}

void terminal::type(std::string_view keys) {
  answered_ = false;
  while (!keys.empty()) {
    const auto written = ::write(fd_, keys.data(), keys.size());
    if (written <= 0) throw std::runtime_error("the terminal takes no keys");
    keys.remove_prefix(static_cast<std::size_t>(written));
  }
}

void terminal::resize(size wanted) {
  size_ = wanted;
  rows_.resize(wanted.rows);
  for (auto& each : rows_)
    each.resize(wanted.columns, ' ');
  row_ = std::min<std::size_t>(row_, wanted.rows - 1u);
  column_ = std::min<std::size_t>(column_, wanted.columns - 1u);
  winsize window{wanted.rows, wanted.columns, 0, 0};
  ::ioctl(fd_, TIOCSWINSZ, &window);
}

bool terminal::comes_to(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition())
    if (!read_some() || std::chrono::steady_clock::now() > until) return condition();
  return true;
}

bool terminal::shows(const std::string& text) {
  if (comes_to([&] { return screen().find(text) != std::string::npos; })) return true;
  UNSCOPED_INFO(screen());
  return false;
}

bool terminal::prompts() {
  return comes_to([&] {
    const auto shown = '\n' + screen();
    const auto last = shown.find_last_not_of('\n') + 1;
    return answered_ && shown.substr(0, last).ends_with("\ntroupe>");
  });
}

bool terminal::reads_lines() const {
  termios now{};
  return ::tcgetattr(fd_, &now) == 0 && (now.c_lflag & ICANON) != 0;
}

std::string terminal::screen() const {
  std::string all;
  for (const auto& each : rows_)
    all += each.substr(0, each.find_last_not_of(' ') + 1) + '\n';
  return all;
}

int terminal::wait() {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (read_some() && std::chrono::steady_clock::now() < until) {
  }
  int status = 0;
  while (::waitpid(id_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) ::kill(id_, SIGKILL);
    std::this_thread::yield();
  }
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// False if the program has closed the terminal. Waits for output for one tick only: a
// condition may become true without it.
bool terminal::read_some() {
  pollfd ready{fd_, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(tick.count())) <= 0) return true;
  std::array<char, 4'096> bytes{};
  const auto count = ::read(fd_, bytes.data(), bytes.size());
  answered_ = true;
  for (auto i = 0; i < count; ++i)
    take(bytes[static_cast<std::size_t>(i)]);
  return count > 0;
}

void terminal::new_line() {
  if (++row_ < rows_.size()) return;
  rows_.erase(rows_.begin());
  rows_.emplace_back(size_.columns, ' ');
  --row_;
}

void terminal::take(char c) {
  if (!sequence_.empty()) {
    sequence_ += c;
    const bool begins = sequence_.size() == 2 && c == '[';
    if (!begins && c >= '@' && c <= '~') {
      if (sequence_[1] == '[') carry_out(c);
      sequence_.clear();
    }
    return;
  }
  switch (c) {
    case escape:
      sequence_ = c;
      return;
    case '\r':
      column_ = 0;
      return;
    case '\n':
      return new_line();
    case '\b':
      column_ -= column_ > 0 ? 1 : 0;
      return;
    case '\a':
      return;
  }
  if (column_ == size_.columns) {
    column_ = 0;
    new_line();
  }
  rows_[row_][column_++] = c;
}

void terminal::carry_out(char command) {
  const auto given = std::strtoul(sequence_.c_str() + 2, nullptr, 10);
  const auto n = std::max<std::size_t>(given, 1);
  auto& row = rows_[row_];
  const auto at = std::min<std::size_t>(column_, size_.columns - 1u);
  switch (command) {
    case 'A':
      row_ -= std::min(n, row_);
      break;
    case 'C':
      column_ = std::min<std::size_t>(column_ + n, size_.columns - 1u);
      break;
    case 'D':
      column_ -= std::min(n, column_);
      break;
    case 'G':
      column_ = std::min<std::size_t>(n - 1, size_.columns - 1u);
      break;
    case 'H':
      row_ = column_ = 0;  // only moves to the top left occur
      break;
    case 'J':
      for (auto i = row_ + 1; i < rows_.size(); ++i)
        rows_[i].assign(size_.columns, ' ');
      [[fallthrough]];
    case 'K':
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(at), row.end(), ' ');
      break;
    case 'P':
      row.erase(at, n);
      row.resize(size_.columns, ' ');
      break;
    case '@':
      row.insert(at, n, ' ');
      row.resize(size_.columns);
      break;
    case 'h':
    case 'l':
      if (sequence_.find("?1049") == std::string::npos) break;
      full_screen_ = command == 'h';
      rows_.assign(size_.rows, std::string(size_.columns, ' '));
      row_ = column_ = 0;
      break;
  }
}

}  // namespace troupe::tools::test
