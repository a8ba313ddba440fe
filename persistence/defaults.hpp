// The constants of the store's behaviour and their sources. Settings of the user are in
// store_options.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "persistence/error.hpp"

namespace troupe::persistence::defaults {

using namespace std::chrono_literals;

// Raised when this program can no longer read the store of an older one.
// Version 2: each batch writes the digest of the objects.
inline constexpr std::uint64_t format_version = 2;
// The oldest format that this program reads. Such a store becomes `format_version` when it is
// opened.
inline constexpr std::uint64_t oldest_format = 1;

// The revision of an empty store: clients read 0 as "any", so no state may have it (etcd begins
// with 1 for the same reason).
inline constexpr revision first_revision = 1;

// -- the queue --------------------------------------------------------------------------------
// 3 MiB values times 20,000 waiting transactions would be 60 GB: bytes are bounded as well.
inline constexpr std::size_t queue_bytes = 256u << 20;
// The size of one write to disk: large enough for 512 ordinary transactions, small enough to take
// at most a tenth of a second on a slow disk.
inline constexpr std::size_t batch_bytes = 8u << 20;
// The number of transactions that are staged at once while the disk is busy: with fewer, wake-ups
// cost more than the head start saves; with more, the disk would wait for the rest.
inline constexpr std::size_t staging_chunk = 32;
// One thread stages, one writes, one answers: if the disk is slower than the processors, no more
// than two of them have work at the same time.
inline constexpr std::size_t commit_threads = 2;

// -- relaxed transactions ---------------------------------------------------------------------
// The number of revisions that unsynced transactions may take before a synced one must record them
// on disk: at 400 lease renewals a second that is one sync in 25 s.
inline constexpr revision revision_reserve = 10'000;
// Unsynced batches stay in memory in case the disk fails; a sync limits their
// size.
inline constexpr std::size_t unsynced_bytes = 1u << 20;
// The number of unused reservations to remember: each kill leaves one, while history is kept.
inline constexpr std::size_t revision_gaps = 1'000;

// -- history ----------------------------------------------------------------------------------
// How long a list's continue token is valid. As upstream: until the compaction after the next,
// about five minutes.
inline constexpr auto pin_time = 5min;
// The number of paged lists at different revisions at the same time.
inline constexpr std::size_t pin_limit = 256;
// A state is rebuilt from the log if at most this many changes have followed it, of objects that
// had at most this size then: 50,000 records are read in about a tenth of a second. At most
// rebuilt_limit such states are kept, since they share few objects with others.
inline constexpr std::size_t rebuild_changes = 50'000;
inline constexpr std::size_t rebuild_bytes = 16u << 20;
inline constexpr std::size_t rebuilt_limit = 4;
// The number of records that one compaction step reads and drops. A step takes a few milliseconds
// and waits for the batch that is being written, so it must be larger than a batch (batch_bytes) to
// keep up.
inline constexpr std::size_t compaction_records = 1'000;
inline constexpr std::size_t compaction_bytes = 16u << 20;
// The log may exceed its limit by this part (1/n) of its revisions before it is cut.
inline constexpr revision compaction_slack = 10;
// Upkeep checks history after this part (1/n) of its limit was written. It cuts history when less
// than this part is free, until twice as much is free.
inline constexpr std::uint64_t maintenance_part = 8;
inline constexpr auto maintenance_period = 10s;
// Writers wait for maintenance when they have written this many parts since its last check ...
inline constexpr std::uint64_t maintenance_parts_ahead = 2;
// ... or when this many tables (of write_buffer_bytes each) are not merged: four of each of two
// tables are merged at once, and more arrive meanwhile. Checked after each batch_bytes. Writers
// wait at most catch_up_limit before a batch is let through.
inline constexpr std::uint64_t unmerged_files = 12;
inline constexpr auto catch_up_limit = 5s;
inline constexpr auto catch_up_check_period = 10ms;

// -- the disk's space (disk_space.hpp) ---------------------------------------------------------
// The part (1/n) of a disk that history and the reserve may take: smaller on a small disk.
inline constexpr std::uint64_t disk_part = 8;
// RocksDB rewrites a level before it drops the old one: the reserve has room for twice the
// write-ahead log (wal_limit_bytes) or twice the first level.
inline constexpr std::uint64_t reserve_bytes = 128u << 20;
// Space is low when less than low_percent of the reserve's size is free (room for one step of
// RocksDB, and for its logs too), and no longer low when enough_percent is free.
inline constexpr std::uint64_t low_percent = 150;
inline constexpr std::uint64_t enough_percent = 225;
// If a start finds less than this part (1/n) of the reserve free, half of the reserve is freed.
inline constexpr std::uint64_t start_part = 8;
// The part (1/n) of its bytes that history keeps while space is low.
inline constexpr std::uint64_t short_history_part = 16;
// While space is low: the part (1/n) of the free space that changes may take before history is cut
// and tables are rewritten.
inline constexpr std::uint64_t admitted_part = 4;
// Below this part (1/n) of its size the reserve is not used for rewriting
// tables.
inline constexpr std::uint64_t spare_part = 4;
// The bytes that one update may add to its object while space is low (a status, a time of
// deletion), and the bytes that all updates together may add, as a part (1/n) of the reserve.
inline constexpr std::uint64_t small_growth_bytes = 1u << 10;
inline constexpr std::uint64_t growth_part = 32;
// While space is low: how often the disk is measured, and the minimum time between two rewrites of
// the tables unless much was removed.
inline constexpr auto low_space_period = 1s;
inline constexpr auto rewrite_period = 10s;

// -- after the disk failed --------------------------------------------------------------------
// A full disk is often emptied within seconds; a broken disk should not be retried too often.
inline constexpr auto retry_first = 100ms;
inline constexpr auto retry_limit = 5s;
inline constexpr std::size_t probe_bytes = 1u << 20;

// -- damage -----------------------------------------------------------------------------------
// The advice to the user in errors about damage.
inline constexpr std::string_view damage_remedy =
    "restore a backup, or keep what can be read with `troupe store salvage`";

// -- opening ----------------------------------------------------------------------------------
// The number of newest changes that each start checks against the objects: a crash can only have
// torn some of these.
inline constexpr revision open_check_revisions = 1'000;
// With fewer objects, decoding in one thread is faster than starting threads.
inline constexpr std::size_t parallel_decode_from = 2'000;
// The bound of stored bytes that are in memory at once while objects are decoded.
inline constexpr std::size_t decode_bytes = 8u << 20;
// The estimate of the memory that a start needs, to report a limit that is too low (figures:
// little_memory_test, "a start in a control group with little memory"): the program; each object in
// trees and indexes; its decoded form, sampled from one object in memory_sample; an actor for each
// object with a status; the texts that readers make of all of them (bounded in
// actors/defaults.hpp).
inline constexpr std::uint64_t program_bytes = 24u << 20;
inline constexpr std::uint64_t memory_per_object = 500;
inline constexpr std::uint64_t memory_percent = 110;
inline constexpr std::uint64_t memory_per_actor = 4'096;
inline constexpr std::uint64_t text_percent = 200;  // of the stored bytes
inline constexpr std::uint64_t most_text_bytes = 64u << 20;
inline constexpr std::uint64_t memory_sample = 16;
// The upper limit of an object's size in memory, as a multiple of its size on disk.
inline constexpr std::uint64_t memory_factor = 100;

// -- RocksDB (figures: bench "transactions per second") ----------------------------------------
inline constexpr std::size_t write_buffer_bytes = 16u << 20;
inline constexpr std::size_t small_write_buffer_bytes = 1u << 20;
// The part (1/n) of the control group's memory for a write buffer: a replay fills
// two.
inline constexpr std::uint64_t write_buffer_memory_part = 32;
// The log is replayed at each start: 64 MiB take about 0.3 s.
inline constexpr std::uint64_t wal_limit_bytes = 64u << 20;
// The part of a replayed log that stays in memory; the rest is flushed before objects are loaded.
inline constexpr std::uint64_t replay_kept_bytes = 4u << 20;
// The size of level 0 before it is merged into level 1: a merge rewrites twice
// that.
inline constexpr std::uint64_t level_bytes = 64u << 20;
inline constexpr int open_files = 128;

}  // namespace troupe::persistence::defaults
