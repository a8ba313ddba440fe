// The constants of the store's behaviour and where they come from. What a user may set stands in
// store_options instead.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "persistence/error.hpp"

namespace troupe::persistence::defaults {

using namespace std::chrono_literals;

// Raised whenever a program of today could not read what one of yesterday wrote.
// 2: the digest of the objects goes with each batch.
inline constexpr std::uint64_t format_version = 2;
// What yesterday's programs wrote and this one reads; it becomes `format_version` when it is
// opened.
inline constexpr std::uint64_t oldest_format = 1;

// The revision of an empty store: clients read 0 as "any", so no state may have it (etcd begins
// with 1 for the same reason).
inline constexpr revision first_revision = 1;

// -- the queue --------------------------------------------------------------------------------
// Values of 3 MiB times 20,000 waiting transactions would be 60 GB: bytes are bounded as well.
inline constexpr std::size_t queue_bytes = 256u << 20;
// One write to the disk: large enough for 512 ordinary transactions, small enough to be over in a
// tenth of a second on a slow disk.
inline constexpr std::size_t batch_bytes = 8u << 20;
// Transactions that are staged at once while the disk is busy: fewer would cost more wake-ups than
// the head start is worth, more would leave the rest for when the disk waits.
inline constexpr std::size_t staging_chunk = 32;
// One stages, one writes, one answers: more than two threads never have work at once on a disk
// that is slower than its processors.
inline constexpr std::size_t commit_threads = 2;

// -- relaxed transactions ---------------------------------------------------------------------
// Revisions that may be given to unsynced transactions before a synced one must say so on disk: at
// 400 lease renewals a second it costs one sync in 25 s.
inline constexpr revision revision_reserve = 10'000;
// Unsynced batches are kept to be written again if the disk fails: one sync bounds them.
inline constexpr std::size_t unsynced_bytes = 1u << 20;
// Reserves that a kill left unused, as they are remembered: one a kill while history is kept.
inline constexpr std::size_t revision_gaps = 1'000;

// -- history ----------------------------------------------------------------------------------
// A list's continue token is good for as long as upstream's, which lasts until the next but one
// compaction: five minutes.
inline constexpr auto pin_time = 5min;
// Lists that are paged at the same time at different revisions.
inline constexpr std::size_t pin_limit = 256;
// Records that one step of a compaction reads and drops; a step takes a few milliseconds.
inline constexpr std::size_t compaction_records = 1'000;
inline constexpr std::size_t compaction_bytes = 2u << 20;
// The log may be longer by this part (1/n) of its revisions before it is cut again.
inline constexpr revision compaction_slack = 10;
inline constexpr auto upkeep_period = 10s;

// -- after the disk failed --------------------------------------------------------------------
// A full disk is often emptied within seconds; a broken one must not be asked all the time.
inline constexpr auto retry_first = 100ms;
inline constexpr auto retry_limit = 5s;
inline constexpr std::size_t probe_bytes = 1u << 20;

// -- damage -----------------------------------------------------------------------------------
// What a user can do about it.
inline constexpr std::string_view damage_remedy =
    "restore a backup, or keep what can be read with `troupe store salvage`";

// -- opening ----------------------------------------------------------------------------------
// The newest changes whose effect on the objects is checked at each start: what a crash could have
// torn is among them.
inline constexpr revision open_check_revisions = 1'000;
// Fewer objects are decoded faster by one thread than threads are made.
inline constexpr std::size_t parallel_decode_from = 2'000;

// -- RocksDB (figures: bench "transactions per second") ----------------------------------------
inline constexpr std::size_t write_buffer_bytes = 16u << 20;
inline constexpr std::size_t small_write_buffer_bytes = 1u << 20;
// Replayed at each start: 64 MiB take about 0.3 s.
inline constexpr std::uint64_t wal_limit_bytes = 64u << 20;
inline constexpr int open_files = 128;

}  // namespace troupe::persistence::defaults
