// Writes nested messages in protobuf's wire format without knowing their length in advance.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/codec/wire.hpp"

namespace troupe::api::wire {

// Messages are nested by `begin` and `end`. Callers bound the nesting: it is that of the
// schema.
class writer {
 public:
  explicit writer(std::size_t size_hint_bytes = 0) { out_.reserve(size_hint_bytes); }

  void begin(std::uint32_t number) {
    const std::size_t tag_at = out_.size();
    append_varint(out_, tag(number, type::bytes));
    out_ += '\0';  // room for a short length
    open_.push_back({tag_at, out_.size()});
  }

  void end() {
    const std::size_t start = open_.back().content;
    open_.pop_back();
    const std::size_t size = out_.size() - start;
    if (size < 0x80) {
      out_[start - 1] = static_cast<char>(size);
      return;
    }
    out_.insert(start, varint_size(size) - 1, '\0');
    write_varint(out_.data() + start - 1, size);
  }

  // Like end(), but removes the message if nothing has been written into it.
  void end_unless_empty() {
    if (out_.size() != open_.back().content) return end();
    out_.resize(open_.back().tag);
    open_.pop_back();
  }

  void varint(std::uint32_t number, std::uint64_t value) { append_varint(out_, number, value); }
  void bytes(std::uint32_t number, std::string_view value) { append_bytes(out_, number, value); }
  void fixed64(std::uint32_t number, std::uint64_t value) {
    append_varint(out_, tag(number, type::fixed64));
    for (int i = 0; i < 8; ++i)
      out_ += static_cast<char>(value >> (8 * i));
  }
  void raw(std::string_view field) { out_ += field; }

  // The position of the next field. A range of fields can be erased while no message that contains
  // it has ended.
  std::size_t position() const noexcept { return out_.size(); }
  void erase(std::size_t from, std::size_t to) { out_.erase(from, to - from); }

  const std::string& str() const noexcept { return out_; }
  std::string take() noexcept { return std::move(out_); }

 private:
  static void write_varint(char* at, std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7)
      *at++ = static_cast<char>(value | 0x80);
    *at = static_cast<char>(value);
  }

  // Where the tag and the content of a message begin.
  struct message {
    std::size_t tag;
    std::size_t content;
  };

  std::string out_;
  std::vector<message> open_;
};

}  // namespace troupe::api::wire
