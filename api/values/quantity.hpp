// An amount of a resource as users write it: "100m", "1.5", "2Gi", "1e3". Exact to the billionth.
//
// Limits and rounding are upstream's (apimachinery, pkg/api/resource): what is finer than a
// billionth is rounded up, away from zero, so that a request is never rounded to zero; what
// is larger than 2^63-1 is 2^63-1.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::api {

class quantity {
 public:
  // How it is written: 1500M, 1500Mi, 15e8. Two amounts may be equal and written differently.
  enum class notation : std::uint8_t { decimal, binary, exponent };

  constexpr quantity() noexcept = default;  // "0"

  // Nothing where the text is no quantity.
  static std::optional<quantity> parse(std::string_view text);
  static quantity of(std::int64_t units, notation style = notation::decimal) noexcept;
  static quantity of_milli(std::int64_t thousandths, notation style = notation::decimal) noexcept;

  // The canonical text of the amount in its notation: 0.1 is "100m", 1024Mi is "1Gi". Nothing is
  // rounded, and the text read again is written the same: what has no binary suffix is written as
  // decimal, 1.3Ki as "1331200m" (upstream's CanonicalizeBytes) and 2929.6875Ki as "3M", where
  // upstream says "3000000" and then "3M".
  std::string str() const;

  // Whole units and whole thousandths, rounded away from zero, held within the type.
  std::int64_t value() const noexcept;
  std::int64_t milli_value() const noexcept;

  notation style() const noexcept { return style_; }
  bool is_zero() const noexcept { return nanos_ == 0; }
  int sign() const noexcept { return (nanos_ > 0) - (nanos_ < 0); }

  // Held within the limits. Zero takes over the notation of the summand.
  quantity& operator+=(const quantity& other) noexcept;
  quantity& operator-=(const quantity& other) noexcept;
  friend quantity operator+(quantity a, const quantity& b) noexcept { return a += b; }
  friend quantity operator-(quantity a, const quantity& b) noexcept { return a -= b; }
  quantity operator-() const noexcept { return {-nanos_, style_}; }

  // By amount alone.
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

// The message for a text that is no quantity.
inline constexpr std::string_view quantity_syntax =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

}  // namespace troupe::api
