#include "runtime/detail/flight_recorder.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace troupe::runtime {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::size_t ring_of_this_thread() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t mine = threads.fetch_add(1, relaxed) % trace_cursor::rings;
  return mine;
}

}  // namespace

flight_recorder::~flight_recorder() {
  for (auto& r : rings_)
    std::free(r.slots.load(relaxed));
}

// Zeroed memory is a ring of empty slots, and not resident before it is used.
flight_recorder::slot* flight_recorder::slots_of(ring& r) noexcept {
  auto* slots = r.slots.load(std::memory_order_acquire);
  if (slots != nullptr) return slots;
  auto* made = static_cast<slot*>(std::calloc(defaults::recorder_slots, sizeof(slot)));
  if (made == nullptr) return nullptr;
  if (r.slots.compare_exchange_strong(slots, made, std::memory_order_acq_rel)) return made;
  std::free(made);
  return slots;
}

void flight_recorder::add(const entry& record) noexcept {
  auto& r = rings_[ring_of_this_thread()];
  auto* slots = slots_of(r);
  if (slots == nullptr) return;
  const auto number = r.next.fetch_add(1, relaxed) + 1;
  auto& s = slots[number % defaults::recorder_slots];
  s.mark.store(0, relaxed);
  // A reader that sees a new word also sees the mark removed: plain stores on this machine, without
  // a fence, which ThreadSanitizer does not support.
  const auto content = std::bit_cast<std::array<std::uint64_t, words>>(record);
  for (std::size_t i = 0; i < words; ++i)
    s.content[i].store(content[i], std::memory_order_release);
  s.mark.store(number, std::memory_order_release);
}

bool flight_recorder::copy(const slot& from, std::uint64_t number, entry& into) noexcept {
  if (from.mark.load(std::memory_order_acquire) != number) return false;
  std::array<std::uint64_t, words> content{};
  for (std::size_t i = 0; i < words; ++i)
    content[i] = from.content[i].load(std::memory_order_acquire);
  if (from.mark.load(relaxed) != number) return false;
  into = std::bit_cast<entry>(content);
  return true;
}

trace_cursor flight_recorder::newest() const {
  trace_cursor cursor;
  for (std::size_t i = 0; i < rings_.size(); ++i)
    cursor.at_[i] = rings_[i].next.load(relaxed);
  return cursor;
}

std::vector<trace_record> flight_recorder::read_all() const {
  trace_cursor cursor;
  return read(cursor);
}

std::vector<trace_record> flight_recorder::read(trace_cursor& from) const {
  std::vector<entry> found;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const auto& r = rings_[i];
    auto& at = from.at_[i];
    const auto* slots = r.slots.load(std::memory_order_acquire);
    if (slots == nullptr) continue;
    const auto newest = r.next.load(relaxed);
    // The oldest slot is overwritten next.
    const auto held = std::uint64_t{defaults::recorder_slots} - 1;
    if (newest - at > held) {
      from.lost += newest - held - at;
      at = newest - held;
    }
    for (auto number = at + 1; number <= newest; ++number) {
      const auto& s = slots[number % defaults::recorder_slots];
      entry e;
      if (copy(s, number, e)) {
        found.push_back(e);
      } else if (s.mark.load(relaxed) == 0 && newest - number < trace_cursor::rings) {
        break;  // still being written: read next time
      } else {
        ++from.lost;
      }
      at = number;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const entry& a, const entry& b) { return a.began < b.began; });
  std::vector<trace_record> rows;
  rows.reserve(found.size());
  const auto scale = origin_.nanoseconds_per_tick();
  for (const auto& e : found)
    rows.push_back(row(e, scale));
  return rows;
}

trace_record flight_recorder::row(const entry& from, double nanoseconds_per_tick) const {
  const auto time = [&](tick_count t) {
    return duration{static_cast<std::int64_t>(static_cast<double>(t) * nanoseconds_per_tick)};
  };
  return {.at = origin_.moment(from.began, nanoseconds_per_tick),
          .receiver = from.receiver,
          .sender = from.sender,
          .type = from.type->name(),
          .cause = from.cause,
          .waited = time(from.waited),
          .took = time(from.took)};
}

}  // namespace troupe::runtime
