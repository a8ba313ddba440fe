// How many bytes of request bodies are held before their requests are answered: in all, for each
// user and for each address. Only a body that does not come in one piece is counted; what comes
// whole is bounded by the places among the requests in flight. Thread safe, without locks.
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

// The part of the budget that one request holds, given back with it. One thread at a time.
class body_charge {
 public:
  // Of system:masters the limits for a user and an address do not count, and a quarter of all is
  // theirs alone.
  body_charge(std::shared_ptr<body_budget> from, const request& head);
  ~body_charge();
  body_charge(const body_charge&) = delete;
  body_charge& operator=(const body_charge&) = delete;

  // Counts `size` bytes, of which some are counted already. Otherwise which limit it is that is
  // reached, in words for the user.
  std::optional<std::string_view> cover(std::size_t size, const body_limits& limits);

 private:
  const std::shared_ptr<body_budget> from_;
  const std::uint64_t user_;
  const std::uint64_t address_;
  const bool privileged_;
  std::size_t covered_ = 0;
};

// For a request whose body has come in part: counts what is there. The answer of a request that may
// hold no more, a 429.
std::optional<response> hold_body(std::unique_ptr<body_charge>& charge,
                                  const std::shared_ptr<body_budget>& from, const request& request,
                                  const body_limits& limits);

}  // namespace troupe::server
