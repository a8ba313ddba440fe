// A terminal that is drawn over and over, and restored in the end. Plain ANSI sequences.
#pragma once

#include <termios.h>

#include <chrono>
#include <string_view>

namespace troupe::tools {

class live_screen {
 public:
  // Not wanted, or without a terminal: nothing is drawn, and waiting is only that.
  explicit live_screen(bool wanted);
  ~live_screen();
  live_screen(const live_screen&) = delete;

  bool live() const noexcept { return live_; }
  // As much of the text as fits.
  void draw(std::string_view text) const;
  // The key that was pressed within the time; 0 for none.
  char wait_for_key(std::chrono::milliseconds limit) const;

 private:
  const bool live_;
  termios before_{};
};

}  // namespace troupe::tools
