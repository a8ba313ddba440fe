#include "api/values/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace troupe::api {
namespace {

using wide = __int128;

constexpr wide nanos_per_unit = 1'000'000'000;
constexpr wide nanos_per_milli = 1'000'000;
constexpr int nano_digits = 9;
constexpr wide largest = wide{std::numeric_limits<std::int64_t>::max()} * nanos_per_unit;
constexpr int largest_digits = 28;  // number of digits of `largest`
// Beyond this every number is either too large or too small; keeps sums of exponents small.
constexpr int exponent_bound = 10'000'000;
// An exponent with more digits is an error, not an amount (kubernetes: suffix.go keeps 32
// bits).
using exponent = std::int32_t;

struct suffix {
  std::string_view text;
  quantity::notation style;
  int power;  // of 10, or of 1024
};

constexpr std::array<suffix, 16> suffixes = {{
    {"", quantity::notation::decimal, 0},
    {"n", quantity::notation::decimal, -9},
    {"u", quantity::notation::decimal, -6},
    {"m", quantity::notation::decimal, -3},
    {"k", quantity::notation::decimal, 3},
    {"M", quantity::notation::decimal, 6},
    {"G", quantity::notation::decimal, 9},
    {"T", quantity::notation::decimal, 12},
    {"P", quantity::notation::decimal, 15},
    {"E", quantity::notation::decimal, 18},
    {"Ki", quantity::notation::binary, 1},
    {"Mi", quantity::notation::binary, 2},
    {"Gi", quantity::notation::binary, 3},
    {"Ti", quantity::notation::binary, 4},
    {"Pi", quantity::notation::binary, 5},
    {"Ei", quantity::notation::binary, 6},
}};

// Decimal digits, most significant first, without leading zeros, and the number of digits after the
// point.
struct digits {
  std::string text;
  int after_point = 0;

  void multiply_by_1024() {
    int carry = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
      carry += (text[i] - '0') * 1024;
      text[i] = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    std::string front;
    for (; carry != 0; carry /= 10)
      front += static_cast<char>('0' + carry % 10);
    text.insert(0, std::string(front.rbegin(), front.rend()));
  }
};

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n]))
    ++n;
  const std::string_view taken = text.substr(0, n);
  text.remove_prefix(n);
  return taken;
}

// Takes a number such as "12.50" from the front.
std::optional<digits> take_number(std::string_view& text) {
  const std::string_view integer = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  if (integer.empty() && fraction.empty()) return std::nullopt;
  digits out{std::string(integer),
             static_cast<int>(std::min<std::size_t>(fraction.size(), exponent_bound))};
  out.text += fraction;
  out.text.erase(0, std::min(out.text.find_first_not_of('0'), out.text.size()));
  return out;
}

std::optional<suffix> read_suffix(std::string_view text) {
  for (const suffix& each : suffixes)
    if (each.text == text) return each;
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  exponent power = 0;
  const auto done = std::from_chars(text.data(), text.data() + text.size(), power);
  if (done.ec != std::errc() || done.ptr != text.data() + text.size()) return std::nullopt;
  return suffix{{},
                quantity::notation::exponent,
                std::clamp<exponent>(power, -exponent_bound, exponent_bound)};
}

// The digits times 10^power in billionths, rounded up, at most `largest`.
wide to_nanos(const digits& number, int power) {
  if (number.text.empty()) return 0;
  const int shift = power - number.after_point + nano_digits;
  const auto size = static_cast<std::int64_t>(number.text.size());
  const std::int64_t digits_left = size + shift;
  if (digits_left > largest_digits) return largest;
  if (digits_left <= 0) return 1;
  wide out = 0;
  for (std::int64_t i = 0; i < digits_left; ++i)
    out = out * 10 + (i < size ? number.text[i] - '0' : 0);
  const bool finer =
      digits_left < size && number.text.find_first_not_of('0', digits_left) != std::string::npos;
  return std::min(out + finer, largest);
}

wide divide_away_from_zero(wide amount, wide by) {
  const wide rest = amount % by;
  return amount / by + (rest > 0) - (rest < 0);
}

std::int64_t saturate(wide amount) {
  constexpr wide low = std::numeric_limits<std::int64_t>::min();
  constexpr wide high = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(amount, low, high));
}

std::string to_text(wide amount) {
  std::string out;
  const bool negative = amount < 0;
  if (negative) amount = -amount;
  do {
    out += static_cast<char>('0' + static_cast<int>(amount % 10));
    amount /= 10;
  } while (amount != 0);
  if (negative) out += '-';
  return {out.rbegin(), out.rend()};
}

// Divides by `factor` as long as there is no remainder.
int take_factors(wide& amount, int factor) {
  int times = 0;
  for (; amount % factor == 0; amount /= factor)
    ++times;
  return times;
}

std::string_view suffix_for(quantity::notation style, int power) {
  for (const suffix& each : suffixes)
    if (each.style == style && each.power == power) return each.text;
  return {};
}

}  // namespace

std::optional<quantity> quantity::parse(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  auto number = take_number(text);
  if (!number) return std::nullopt;
  const auto tail = read_suffix(text);
  if (!tail) return std::nullopt;
  int power = tail->power;
  notation style = tail->style;
  if (style == notation::binary)
    for (; power > 0; --power)
      number->multiply_by_1024();
  wide nanos = to_nanos(*number, power);
  // Fractions of one have no binary suffix: 0.0001Ki is 102400u.
  if (style == notation::binary && nanos > 0 && nanos < nanos_per_unit) style = notation::decimal;
  return quantity(negative ? -nanos : nanos, style);
}

quantity quantity::of(std::int64_t units, notation style) noexcept {
  return {std::max(wide{units} * nanos_per_unit, -largest), style};
}

quantity quantity::of_milli(std::int64_t thousandths, notation style) noexcept {
  return {wide{thousandths} * nanos_per_milli, style};
}

std::string quantity::str() const {
  if (nanos_ == 0) return "0";
  if (style_ == notation::binary && nanos_ % (1024 * nanos_per_unit) == 0) {
    wide amount = nanos_ / nanos_per_unit;
    const int power = take_factors(amount, 1024);
    return to_text(amount).append(suffix_for(notation::binary, power));
  }
  wide amount = nanos_;
  int power = take_factors(amount, 10) - nano_digits;
  for (; power % 3 != 0; --power)
    amount *= 10;  // each suffix is a factor of 1,000
  std::string out = to_text(amount);
  if (style_ != notation::exponent) return out.append(suffix_for(notation::decimal, power));
  return power == 0 ? out : out + "e" + std::to_string(power);
}

std::int64_t quantity::value() const noexcept {
  return saturate(divide_away_from_zero(nanos_, nanos_per_unit));
}

std::int64_t quantity::milli_value() const noexcept {
  return saturate(divide_away_from_zero(nanos_, nanos_per_milli));
}

quantity& quantity::operator+=(const quantity& other) noexcept {
  if (is_zero()) style_ = other.style_;
  nanos_ = std::clamp(nanos_ + other.nanos_, -largest, largest);
  return *this;
}

quantity& quantity::operator-=(const quantity& other) noexcept {
  return *this += -other;
}

}  // namespace troupe::api
