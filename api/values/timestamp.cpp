#include "api/values/timestamp.hpp"

#include <algorithm>
#include <chrono>

namespace troupe::api {
namespace {

using namespace std::chrono;

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// Takes tokens from the front of a text; `ok` is false after a missing one.
struct scanner {
  std::string_view rest;
  bool ok = true;

  int number(std::size_t digits) noexcept {
    int value = 0;
    if (rest.size() < digits) return fail();
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(rest[i])) return fail();
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(digits);
    return value;
  }

  bool take(char c) noexcept {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  }

  void expect(char c) noexcept {
    if (!take(c)) fail();
  }

  // Digits after the ninth are ignored.
  std::int32_t fraction() noexcept {
    std::int32_t nanos = 0;
    std::int32_t unit = 100'000'000;
    if (rest.empty() || !is_digit(rest.front())) return fail();
    while (!rest.empty() && is_digit(rest.front())) {
      nanos += (rest.front() - '0') * unit;
      unit /= 10;
      rest.remove_prefix(1);
    }
    return nanos;
  }

  int offset_seconds() noexcept {
    if (take('Z') || take('z')) return 0;
    const bool behind = take('-');
    if (!behind) expect('+');
    const int hours = number(2);
    expect(':');
    const int minutes = number(2);
    if (hours > 23 || minutes > 59) return fail();
    return (behind ? -1 : 1) * (hours * 3600 + minutes * 60);
  }

  int fail() noexcept {
    ok = false;
    return 0;
  }
};

void append_digits(std::string& out, int value, int digits) {
  char text[10];
  for (int i = digits; i-- > 0; value /= 10)
    text[i] = static_cast<char>('0' + value % 10);
  out.append(text, digits);
}

// Without the final Z.
void append_clock(std::string& out, std::int64_t seconds) {
  const sys_seconds at{std::chrono::seconds(std::clamp(seconds, first_second, last_second))};
  const auto midnight = floor<days>(at);
  const year_month_day date(midnight);
  const hh_mm_ss clock(at - midnight);
  append_digits(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_digits(out, static_cast<int>(static_cast<unsigned>(date.month())), 2);
  out += '-';
  append_digits(out, static_cast<int>(static_cast<unsigned>(date.day())), 2);
  out += 'T';
  append_digits(out, static_cast<int>(clock.hours().count()), 2);
  out += ':';
  append_digits(out, static_cast<int>(clock.minutes().count()), 2);
  out += ':';
  append_digits(out, static_cast<int>(clock.seconds().count()), 2);
}

}  // namespace

std::optional<moment> parse_time(std::string_view text) noexcept {
  scanner in{text};
  const year y(in.number(4));
  in.expect('-');
  const month m(in.number(2));
  in.expect('-');
  const day d(in.number(2));
  if (!in.take('T')) in.take('t') || in.fail();
  const int hour = in.number(2);
  in.expect(':');
  const int minute = in.number(2);
  in.expect(':');
  const int second = in.number(2);
  moment out;
  if (in.take('.')) out.nanos = in.fraction();
  const int offset = in.offset_seconds();
  const year_month_day date(y, m, d);
  if (!in.ok || !in.rest.empty() || !date.ok() || hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  out.seconds = sys_seconds(sys_days(date)).time_since_epoch().count() + hour * 3600 + minute * 60 +
                second - offset;
  if (out.seconds < first_second || out.seconds > last_second) return std::nullopt;
  return out;
}

void append_time(std::string& out, std::int64_t seconds) {
  append_clock(out, seconds);
  out += 'Z';
}

void append_micro_time(std::string& out, moment at) {
  append_clock(out, at.seconds);
  out += '.';
  append_digits(out, std::clamp(at.nanos, 0, 999'999'999) / 1000, 6);
  out += 'Z';
}

std::string format_nano_time(moment at) {
  std::string out;
  append_clock(out, at.seconds);
  out += '.';
  append_digits(out, std::clamp(at.nanos, 0, 999'999'999), 9);
  out += 'Z';
  return out;
}

std::string format_time(std::int64_t seconds) {
  std::string out;
  append_time(out, seconds);
  return out;
}

}  // namespace troupe::api
