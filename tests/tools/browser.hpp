// A headless Chromium that a test drives through its debugging pipe. Everything that is waited for
// has a deadline; the browser and its profile go with the object.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "support/scratch_folder.hpp"

namespace troupe::tools::test {

class browser {
 public:
  // Empty when the machine has none.
  static std::string program();

  browser();
  ~browser();
  browser(const browser&) = delete;

  void open(const std::string& url);
  // Runs JavaScript in the page: an expression, or a promise of one, that is true.
  bool holds(const std::string& expression);
  // … that comes to be true within twenty seconds.
  bool comes_to_hold(const std::string& expression);
  // The number that an expression, or a promise of one, is.
  double number(const std::string& expression);
  // PNG in base64.
  std::string screenshot();

 private:
  // The whole answer as JSON text.
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
