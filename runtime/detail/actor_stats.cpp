#include "runtime/detail/actor_stats.hpp"

namespace troupe::runtime {

namespace {

// The bucket bounds in ticks, computed once: before a system has run for a millisecond the tick
// rate is not known well enough, so 2.5 GHz is assumed.
std::array<tick_count, time_classes.size()> classes_in_ticks() noexcept {
  static const tick_origin origin;
  static std::atomic<double> rate{0};
  auto known = rate.load(std::memory_order_relaxed);
  if (known == 0) {
    const bool settled = origin.age() > std::chrono::milliseconds{50};
    known = settled ? origin.nanoseconds_per_tick() : 0.4;
    if (settled) rate.store(known, std::memory_order_relaxed);
  }
  std::array<tick_count, time_classes.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<tick_count>(static_cast<double>(time_classes[i].count()) / known);
  }
  return out;
}

std::size_t class_of(tick_count took) noexcept {
  // Nearly all handlers are short: the table is needed only for the others.
  static constexpr tick_count surely_short = 2'000;
  if (took < surely_short) return 0;
  const auto bounds = classes_in_ticks();
  std::size_t i = 0;
  while (i < bounds.size() && took > bounds[i])
    ++i;
  return i;
}

}  // namespace

actor_stats::~actor_stats() {
  auto* e = first_.load(std::memory_order_relaxed);
  while (e != nullptr) {
    const auto* gone = e;
    e = e->next;
    delete gone;
  }
}

actor_stats::entry& actor_stats::of(const message_type& type) {
  auto* const first = first_.load(std::memory_order_relaxed);
  for (auto* e = first; e != nullptr; e = e->next) {
    if (e->type == &type) return *e;
  }
  auto* made = new entry{&type, first};
  first_.store(made, std::memory_order_release);
  return *made;
}

void actor_stats::received(const message_type& type, tick_count began, tick_count took,
                           cause cause) {
  constexpr auto relaxed = std::memory_order_relaxed;
  auto& e = of(type);
  add(e.received, 1);
  add(e.busy, took);
  if (took > e.longest.load(relaxed)) e.longest.store(took, relaxed);
  add(e.times[class_of(took)], 1);
  e.last.store(began, relaxed);
  e.request.store(cause.request, relaxed);
  e.revision.store(cause.revision, relaxed);
}

std::vector<message_counts> actor_stats::read(double nanoseconds_per_tick) const {
  constexpr auto relaxed = std::memory_order_relaxed;
  const auto time = [&](tick_count t) {
    return duration{static_cast<std::int64_t>(static_cast<double>(t) * nanoseconds_per_tick)};
  };
  const auto now = ticks();
  std::vector<message_counts> rows;
  for (const auto* e = first_.load(std::memory_order_acquire); e != nullptr; e = e->next) {
    message_counts row;
    row.type = e->type->name();
    row.received = e->received.load(relaxed);
    row.sent = e->sent.load(relaxed);
    row.busy = time(e->busy.load(relaxed));
    row.longest = time(e->longest.load(relaxed));
    for (std::size_t i = 0; i < row.times.size(); ++i)
      row.times[i] = e->times[i].load(relaxed);
    const auto last = e->last.load(relaxed);
    if (last != 0 && now > last) row.last = time(now - last);
    row.cause = {e->request.load(relaxed), e->revision.load(relaxed)};
    rows.push_back(row);
  }
  return rows;
}

}  // namespace troupe::runtime
