// Reads and writes protobuf's wire format field by field, where message objects would be too
// expensive. It handles numbers and bytes only; the plans have their meaning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::api::wire {

enum class type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct field {
  std::uint32_t number = 0;
  type form = type::varint;
  std::uint64_t value = 0;          // varint, fixed64, fixed32
  std::string_view bytes;           // for type::bytes: the content after the length
  std::string_view bytes_with_tag;  // the field with its tag
};

// Iterates over the fields of one message. Never reads past the end, for any input.
class reader {
 public:
  explicit reader(std::string_view message) noexcept
      : at_(message.data()), end_(at_ + message.size()) {}

  // Returns false at the end and at the first malformed field; `ok` tells which. Groups count as
  // malformed: Kubernetes has none.
  bool next(field& out) noexcept;
  bool ok() const noexcept { return ok_; }

 private:
  bool varint(std::uint64_t& out) noexcept;
  bool payload(field& out) noexcept;
  bool fixed(field& out, int size_bytes) noexcept;

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

inline constexpr std::uint32_t tag(std::uint32_t number, type form) noexcept {
  return number << 3 | static_cast<std::uint32_t>(form);
}

void append_long_varint(std::string& out, std::uint64_t value);

inline void append_varint(std::string& out, std::uint64_t value) {
  if (value < 0x80)
    out += static_cast<char>(value);
  else
    append_long_varint(out, value);
}

inline void append_varint(std::string& out, std::uint32_t number, std::uint64_t value) {
  append_varint(out, tag(number, type::varint));
  append_varint(out, value);
}

inline void append_bytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  append_varint(out, tag(number, type::bytes));
  append_varint(out, bytes.size());
  out += bytes;
}

inline constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  std::size_t size = 1;
  while (value >= 0x80)
    value >>= 7, ++size;
  return size;
}

}  // namespace troupe::api::wire
