// The header fields of a request, in one memory block: names in lower case, values without
// surrounding blanks. At most `defaults::header_count_limit` fields, so a search is a
// scan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::server {

class header_block {
 public:
  // `name` may be in any case. The caller enforces the limits on count and size.
  void add(std::string_view name, std::string_view value);
  void clear() noexcept;

  // The first field of that (lower-case) name; empty if there is none.
  std::string_view get(std::string_view name) const noexcept;
  bool has(std::string_view name) const noexcept;
  // All fields of that name, joined by ", " as RFC 9110 5.2 allows for lists.
  std::string joined(std::string_view name) const;
  std::size_t count(std::string_view name) const noexcept;

  std::size_t size() const noexcept { return fields_.size(); }
  std::string_view name(std::size_t i) const noexcept;
  std::string_view value(std::size_t i) const noexcept;

 private:
  struct field {
    std::uint32_t at, name_size, value_size;
  };
  std::string text_;
  std::vector<field> fields_;
};

}  // namespace troupe::server
