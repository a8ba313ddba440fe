// Writes `add element` or `delete element` as nft lines of bounded length: nft buffers each line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::actors::services {

class element_lines {
 public:
  // `table` e.g. "ip troupe". Both texts must outlive this; `to` is complete after destruction.
  element_lines(std::string_view verb, std::string_view table, std::string& to)
      : verb_{verb}, table_{table}, to_{to} {}
  ~element_lines() { end(); }
  element_lines(const element_lines&) = delete;
  element_lines& operator=(const element_lines&) = delete;

  // `data`: of a map element; empty for a set and for a deletion.
  void add(const std::string& collection, const std::string& key, const std::string& data = {});

 private:
  void end();

  const std::string_view verb_, table_;
  std::string& to_;
  std::string collection_;
  std::size_t count_ = 0;
};

}  // namespace troupe::actors::services
