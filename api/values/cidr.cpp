#include "api/values/cidr.hpp"

#include <arpa/inet.h>

#include "api/values/integer.hpp"

namespace troupe::api {
namespace {

bool read_address(std::string_view text, bool v6, std::uint8_t* bytes) {
  if (text.find('\0') != std::string_view::npos) return false;
  const std::string copy(text);
  return inet_pton(v6 ? AF_INET6 : AF_INET, copy.c_str(), bytes) == 1;
}

std::string write_address(const std::uint8_t* bytes, bool v6) {
  char text[INET6_ADDRSTRLEN];
  const char* made = inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, text, sizeof text);
  return made == nullptr ? std::string() : std::string(made);
}

bool bit(const std::array<std::uint8_t, 16>& bytes, int at) {
  return ((bytes[static_cast<std::size_t>(at / 8)] >> (7 - at % 8)) & 1) != 0;
}

bool is_v6(std::string_view text) {
  return text.find(':') != std::string_view::npos;
}

}  // namespace

std::optional<cidr> cidr::parse(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  cidr made;
  const auto address = text.substr(0, slash);
  const auto length = text.substr(slash + 1);
  made.v6_ = api::is_v6(address);
  if (!read_address(address, made.v6_, made.bytes_.data())) return std::nullopt;
  const auto bits = parse_integer<int>(length);
  const int most = made.v6_ ? 128 : 32;
  if (!bits || *bits < 0 || *bits > most) return std::nullopt;
  made.prefix_bits_ = *bits;
  made.canonical_ =
      text == write_address(made.bytes_.data(), made.v6_) + "/" + std::to_string(made.prefix_bits_);
  for (int at = made.prefix_bits_; at < most; ++at)
    made.canonical_ = made.canonical_ && !bit(made.bytes_, at);
  return made;
}

bool cidr::contains(const cidr& other) const noexcept {
  if (v6_ != other.v6_ || other.prefix_bits_ < prefix_bits_) return false;
  for (int at = 0; at < prefix_bits_; ++at)
    if (bit(bytes_, at) != bit(other.bytes_, at)) return false;
  return true;
}

std::string cidr::text() const {
  return address() + "/" + std::to_string(prefix_bits_);
}

std::string cidr::address() const {
  return write_address(bytes_.data(), v6_);
}

cidr cidr::part(int prefix_bits, std::uint32_t number) const noexcept {
  cidr made = *this;
  for (int at = prefix_bits_; at < (v6_ ? 128 : 32); ++at) {
    auto& byte = made.bytes_[static_cast<std::size_t>(at / 8)];
    const auto mask = static_cast<std::uint8_t>(0x80 >> at % 8);
    const bool one = at < prefix_bits && (number >> (prefix_bits - 1 - at) & 1) != 0;
    byte = static_cast<std::uint8_t>(one ? byte | mask : byte & ~mask);
  }
  made.prefix_bits_ = prefix_bits;
  made.canonical_ = true;
  return made;
}

std::uint32_t cidr::part_number(int prefix_bits, const cidr& other) const noexcept {
  std::uint32_t number = 0;
  for (int at = prefix_bits_; at < prefix_bits; ++at)
    number = number << 1 | static_cast<std::uint32_t>(bit(other.bytes_, at));
  return number;
}

error_messages check_cidr(std::string_view s) {
  if (cidr::parse(s)) return {};
  return {"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"};
}

std::optional<std::string> canonical_ip(std::string_view s) {
  std::array<std::uint8_t, 16> bytes{};
  const bool v6 = is_v6(s);
  if (!read_address(s, v6, bytes.data())) return std::nullopt;
  return write_address(bytes.data(), v6);
}

std::string_view ip_family(std::string_view s) {
  if (!canonical_ip(s)) return {};
  return is_v6(s) ? "IPv6" : "IPv4";
}

bool is_loopback_ip(std::string_view s) {
  return s == "::1" || (s.starts_with("127.") && ip_family(s) == "IPv4");
}

}  // namespace troupe::api
