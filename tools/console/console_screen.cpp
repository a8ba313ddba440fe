#include "tools/console/console_screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "api/values/text_parts.hpp"

namespace troupe::tools {

namespace {

constexpr std::string_view other_screen = "\033[?1049h\033[?25l";
constexpr std::string_view own_screen = "\033[?25h\033[?1049l";
constexpr std::string_view to_top = "\033[H";
constexpr std::string_view end_of_line = "\033[K\r\n";
constexpr std::string_view rest_of_screen = "\033[J";

winsize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
    size.ws_row = 24;
    size.ws_col = 80;
  }
  return size;
}

}  // namespace

std::string_view fitting(std::string_view line, std::size_t columns) noexcept {
  std::size_t end = 0;
  while (end < line.size()) {
    const bool begins = (static_cast<unsigned char>(line[end]) & 0xC0) != 0x80;
    if (begins && columns-- == 0) break;
    ++end;
  }
  return line.substr(0, end);
}

live_screen::live_screen(bool wanted)
    : live_{wanted && ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDIN_FILENO) == 1} {
  if (!live_) return;
  ::tcgetattr(STDIN_FILENO, &before_);
  auto raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  std::cout << other_screen << std::flush;
}

live_screen::~live_screen() {
  if (!live_) return;
  std::cout << own_screen << std::flush;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void live_screen::draw(std::string_view text) const {
  const auto size = size_of_terminal();
  std::string frame{to_top};
  for (unsigned row = 1; row < size.ws_row && !text.empty(); ++row) {
    frame += fitting(api::take_part(text, '\n'), size.ws_col);
    frame += end_of_line;
  }
  frame += rest_of_screen;
  std::cout << frame << std::flush;
}

char live_screen::wait_for_key(std::chrono::milliseconds limit) const {
  pollfd input{live_ ? STDIN_FILENO : -1, POLLIN, 0};
  if (::poll(&input, 1, static_cast<int>(limit.count())) <= 0) return 0;
  char pressed = 'q';  // also at the end of the input
  return ::read(STDIN_FILENO, &pressed, 1) == 1 ? pressed : 'q';
}

}  // namespace troupe::tools
