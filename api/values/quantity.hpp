// A quantity of a resource: "100m", "1.5", "2Gi", "1e3". Exact to one billionth.
//
// Limits and rounding are upstream's (apimachinery, pkg/api/resource): finer amounts are rounded
// up, away from zero, so that a request is never rounded to zero; larger amounts than 2^63-1 become
// 2^63-1.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::api {

class quantity {
 public:
  // The notation: 1500M, 1500Mi, 15e8. Equal amounts may have different notations.
  enum class notation : std::uint8_t { decimal, binary, exponent };

  constexpr quantity() noexcept = default;  // "0"

  // Returns nullopt if the text is not a quantity.
  static std::optional<quantity> parse(std::string_view text);
  static quantity of(std::int64_t units, notation style = notation::decimal) noexcept;
  static quantity of_milli(std::int64_t thousandths, notation style = notation::decimal) noexcept;

  // The canonical text in its notation: 0.1 is "100m", 1024Mi is "1Gi". It is exact and stable when
  // parsed again: an amount without a binary suffix is written as decimal, 1.3Ki as "1331200m"
  // (upstream's CanonicalizeBytes) and 2929.6875Ki as "3M", where upstream writes "3000000" first
  // and then "3M".
  std::string str() const;

  // Whole units and whole thousandths, rounded away from zero, clamped to the type.
  std::int64_t value() const noexcept;
  std::int64_t milli_value() const noexcept;

  notation style() const noexcept { return style_; }
  bool is_zero() const noexcept { return nanos_ == 0; }
  int sign() const noexcept { return (nanos_ > 0) - (nanos_ < 0); }

  // Clamped to the limits. Zero takes the notation of the other operand.
  quantity& operator+=(const quantity& other) noexcept;
  quantity& operator-=(const quantity& other) noexcept;
  friend quantity operator+(quantity a, const quantity& b) noexcept { return a += b; }
  friend quantity operator-(quantity a, const quantity& b) noexcept { return a -= b; }
  quantity operator-() const noexcept { return {-nanos_, style_}; }

  // Compares the amounts only.
  friend bool operator==(const quantity& a, const quantity& b) noexcept {
    return a.nanos_ == b.nanos_;
  }
  friend std::strong_ordering operator<=>(const quantity& a, const quantity& b) noexcept {
    return a.nanos_ <=> b.nanos_;
  }

 private:
  using wide = __int128;

  constexpr quantity(wide nanos, notation style) noexcept : nanos_(nanos), style_(style) {}

  wide nanos_ = 0;
  notation style_ = notation::decimal;
};

// The error message for text that is not a quantity.
inline constexpr std::string_view quantity_syntax =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

}  // namespace troupe::api
