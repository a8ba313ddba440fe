// A headless Chromium that a test controls through its debugging pipe. Every wait has a deadline;
// the browser and its profile are removed with the object.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "support/scratch_folder.hpp"

namespace troupe::tools::test {

class browser {
 public:
  // The path of the browser; empty if the machine has none.
  static std::string program();

  browser();
  ~browser();
  browser(const browser&) = delete;

  void open(const std::string& url);
  // Whether a JavaScript expression, or a promise of one, is true in the page.
  bool holds(const std::string& expression);
  // … becomes true within a minute.
  bool comes_to_hold(const std::string& expression);
  // The value of an expression, or of a promise, as a number.
  double number(const std::string& expression);
  // PNG in base64.
  std::string screenshot();

 private:
  // The whole response as JSON text.
  std::string evaluate(const std::string& expression);
  std::string call(const std::string& method, const std::string& parameters);
  std::string read_message();

  troupe::test::scratch_folder profile_;
  pid_t id_ = -1;
  int to_ = -1;
  int from_ = -1;
  int last_id_ = 0;
  std::string session_;
  std::string unread_;
};

}  // namespace troupe::tools::test
