// The recorder of the last messages: a few rings of fixed size, one for each thread as long as
// there are at most as many threads as rings.
//
// A writer claims the next slot of its ring and marks it with its number when it is complete; a
// reader checks the mark before and after reading and skips overwritten slots. A ring is allocated
// at its first record, and its memory becomes resident as it fills.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/defaults.hpp"
#include "runtime/detail/ticks.hpp"
#include "runtime/observation.hpp"

namespace troupe::runtime {

class flight_recorder final : public recorder {
 public:
  flight_recorder() = default;
  ~flight_recorder() override;

  struct entry {
    tick_count began = 0;
    tick_count waited = 0;
    tick_count took = 0;
    std::uint64_t receiver = 0;
    std::uint64_t sender = 0;
    const message_type* type = nullptr;
    runtime::cause cause;
  };
  void add(const entry& record) noexcept;

  trace_cursor newest() const override;
  std::vector<trace_record> read(trace_cursor& from) const override;
  std::vector<trace_record> read_all() const override;

 private:
  static constexpr std::size_t words = sizeof(entry) / sizeof(std::uint64_t);
  struct slot {
    std::atomic<std::uint64_t> mark{0};  // number of its record, from 1; 0: being written
    std::array<std::atomic<std::uint64_t>, words> content{};
  };
  struct ring {
    std::atomic<slot*> slots{nullptr};
    std::atomic<std::uint64_t> next{0};  // records so far
  };

  slot* slots_of(ring& r) noexcept;
  static bool copy(const slot& from, std::uint64_t number, entry& into) noexcept;
  trace_record row(const entry& from, double nanoseconds_per_tick) const;

  std::array<ring, trace_cursor::rings> rings_;
  tick_origin origin_;
};

}  // namespace troupe::runtime
