#include "api/codec/wire.hpp"

namespace troupe::api::wire {

bool reader::next(field& out) noexcept {
  if (at_ == end_ || !ok_) return false;
  const char* start = at_;
  std::uint64_t tag = 0;
  ok_ = varint(tag) && (tag >> 3) != 0 && (tag >> 3) <= 0x1fffffff;
  if (!ok_) return false;
  out.number = static_cast<std::uint32_t>(tag >> 3);
  out.form = static_cast<type>(tag & 7);
  ok_ = payload(out);
  out.bytes_with_tag = {start, static_cast<std::size_t>(at_ - start)};
  return ok_;
}

bool reader::payload(field& out) noexcept {
  switch (out.form) {
    case type::varint:
      return varint(out.value);
    case type::fixed64:
      return fixed(out, 8);
    case type::fixed32:
      return fixed(out, 4);
    case type::bytes: {
      std::uint64_t size = 0;
      if (!varint(size) || size > static_cast<std::uint64_t>(end_ - at_)) return false;
      out.bytes = {at_, static_cast<std::size_t>(size)};
      at_ += size;
      return true;
    }
  }
  return false;
}

bool reader::varint(std::uint64_t& out) noexcept {
  out = 0;
  for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(*at_++);
    out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool reader::fixed(field& out, int size_bytes) noexcept {
  if (end_ - at_ < size_bytes) return false;
  out.value = 0;
  for (int i = 0; i < size_bytes; ++i)
    out.value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(at_[i])) << (8 * i);
  at_ += size_bytes;
  return true;
}

void append_long_varint(std::string& out, std::uint64_t value) {
  char bytes[10];
  int size = 0;
  while (value >= 0x80) {
    bytes[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

}  // namespace troupe::api::wire
