// The results of a bench run, in the order of measuring. Each row is also printed on standard error
// when it is measured, to show progress.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace troupe::bench {

// The limit that a figure must meet.
struct bar {
  enum class side { at_most, at_least } of;
  double value;
};
inline bar at_most(double value) {
  return {bar::side::at_most, value};
}
inline bar at_least(double value) {
  return {bar::side::at_least, value};
}

class results {
 public:
  void add(std::string name, double value, std::string unit, std::optional<bar> wanted = {});

  std::string markdown() const;
  // An array of {what, value, unit, bar, met}; the last two only where there is a bar.
  std::string json() const;

 private:
  struct row {
    std::string name;
    double value;
    std::string unit;
    std::optional<bar> wanted;

    bool met() const;
    std::string bar_text() const;
  };
  std::vector<row> rows_;
};

}  // namespace troupe::bench
