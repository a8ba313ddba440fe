// A terminal that is redrawn periodically and restored at the end. Uses plain ANSI sequences.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace troupe::tools {

// The beginning of the line that fits into so many columns. Each character is counted as one
// column.
std::string_view fitting(std::string_view line, std::size_t columns) noexcept;

class live_screen {
 public:
  // If `wanted` is false or there is no terminal, draws nothing and only waits.
  explicit live_screen(bool wanted);
  ~live_screen();
  live_screen(const live_screen&) = delete;

  bool live() const noexcept { return live_; }
  // Draws as much of the text as fits.
  void draw(std::string_view text) const;
  // The key that was pressed within `limit`; 0 if none.
  char wait_for_key(std::chrono::milliseconds limit) const;

 private:
  const bool live_;
  termios before_{};
};

}  // namespace troupe::tools
