// Bounds the bytes of request bodies held before their responses: in total, for each user and for
// each address. Only bodies received in several pieces count; the others are bounded by the limit
// of requests in flight. Thread safe and lock-free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "server/flow_control/key_counts.hpp"
#include "server/fwd.hpp"

namespace troupe::server {

struct body_limits {
  std::size_t in_all = 0;
  std::size_t of_user = 0;
  std::size_t of_address = 0;
};

class body_budget {
 public:
  body_budget() = default;
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class body_charge;
  std::atomic<std::uint64_t> bytes_{0};
  key_counts users_;
  key_counts addresses_;
};

// The share of the budget that one request holds; released by its destructor. One thread at a time.
class body_charge {
 public:
  // For system:masters the limits of user and address do not apply, and a quarter of the total is
  // reserved for them.
  body_charge(std::shared_ptr<body_budget> from, const request& head);
  ~body_charge();
  body_charge(const body_charge&) = delete;
  body_charge& operator=(const body_charge&) = delete;

  // Counts up to `size` bytes, including those already counted. If a limit is reached, returns its
  // name for the user.
  std::optional<std::string_view> cover(std::size_t size, const body_limits& limits);

 private:
  const std::shared_ptr<body_budget> from_;
  const std::uint64_t user_;
  const std::uint64_t address_;
  const bool privileged_;
  std::size_t covered_ = 0;
};

// For a partly received body: counts the received bytes. Returns a 429 if the request may hold no
// more.
std::optional<response> charge_body(std::unique_ptr<body_charge>& charge,
                                    const std::shared_ptr<body_budget>& from,
                                    const request& request, const body_limits& limits);

}  // namespace troupe::server
