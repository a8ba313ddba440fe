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

// Raised whenever this program could not read the store of an older one.
// 2: the digest of the objects goes with each batch.
inline constexpr std::uint64_t format_version = 2;
// The oldest format that this program reads; it becomes `format_version` when it is
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
// Records that one step of a compaction reads and drops; a step takes a few milliseconds, and waits
// for the batch that is on its way to the disk, so it must be larger than one (batch_bytes) to
// keep up.
inline constexpr std::size_t compaction_records = 1'000;
inline constexpr std::size_t compaction_bytes = 16u << 20;
// The log may be longer by this part (1/n) of its revisions before it is cut again.
inline constexpr revision compaction_slack = 10;
// History is looked at after so much of its limit (1/n) has been written, cut when it is so near
// the limit, and then to twice as far from it.
inline constexpr std::uint64_t upkeep_part = 8;
inline constexpr auto upkeep_period = 10s;
// Writers wait for upkeep when they have written so many of these parts since it last looked ...
inline constexpr std::uint64_t upkeep_parts_ahead = 2;
// ... or so many tables (of write_buffer_bytes each) are not merged: four of each of two tables are
// merged at once, and more come meanwhile. Asked for after each batch_bytes. Once they wait, for at
// most this long before a batch is let through.
inline constexpr std::uint64_t unmerged_files = 12;
inline constexpr auto catch_up_limit = 5s;
inline constexpr auto catch_up_look = 10ms;

// -- the disk's space (disk_space.hpp) ---------------------------------------------------------
// What history and the reserve may have of a disk (1/n): on a small one they are smaller.
inline constexpr std::uint64_t disk_part = 8;
// RocksDB rewrites a level before it drops the old one: room for the write-ahead log
// (wal_limit_bytes) or for the first level, twice.
inline constexpr std::uint64_t reserve_bytes = 128u << 20;
// The store is short of space with less free than so many percent of the reserve, so that RocksDB
// has room for a step and its logs without it, and has enough again with the second.
inline constexpr std::uint64_t low_percent = 150;
inline constexpr std::uint64_t enough_percent = 225;
// A start with less than this part (1/n) of the reserve free is given some of it at once.
inline constexpr std::uint64_t start_part = 8;
// The part (1/n) of its bytes that history keeps while space is short.
inline constexpr std::uint64_t short_history_part = 16;
// While space is short: the part (1/n) of what is free that changes may take before history is cut
// and tables are rewritten.
inline constexpr std::uint64_t admitted_part = 4;
// Tables are not rewritten from what is left of the reserve when it is less than this part
// (1/n).
inline constexpr std::uint64_t spare_part = 4;
// What an update may add to its object while space is short (a status, a time of deletion), and
// all of them together, as a part (1/n) of the reserve.
inline constexpr std::uint64_t small_growth_bytes = 1u << 10;
inline constexpr std::uint64_t growth_part = 32;
// While space is short: how often it is looked at, and how soon tables are rewritten after that was
// done, unless much has been removed.
inline constexpr auto low_space_period = 1s;
inline constexpr auto rewrite_period = 10s;

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
// The stored form of objects that is in memory at once while they are decoded.
inline constexpr std::size_t decode_bytes = 8u << 20;
// What a start needs, to tell a limit that is too small (figures: little_memory_test, "a start
// in a control group with little memory"): the program, each object in trees and indexes, its
// decoded form, for which one object of so many is decoded, an actor for what has a status, and the
// texts that readers make of all of them (as many bytes as actors/defaults.hpp has for texts).
inline constexpr std::uint64_t program_bytes = 24u << 20;
inline constexpr std::uint64_t memory_per_object = 500;
inline constexpr std::uint64_t memory_percent = 110;
inline constexpr std::uint64_t memory_per_actor = 4'096;
inline constexpr std::uint64_t text_percent = 200;  // of the stored bytes
inline constexpr std::uint64_t most_text_bytes = 64u << 20;
inline constexpr std::uint64_t memory_sample = 16;
// No object takes more in memory than so many times what it takes on disk.
inline constexpr std::uint64_t memory_factor = 100;

// -- RocksDB (figures: bench "transactions per second") ----------------------------------------
inline constexpr std::size_t write_buffer_bytes = 16u << 20;
inline constexpr std::size_t small_write_buffer_bytes = 1u << 20;
// Of the memory that control groups leave: the log is replayed into two of them, some more wait.
inline constexpr std::uint64_t write_buffer_memory_part = 32;
// Replayed at each start: 64 MiB take about 0.3 s.
inline constexpr std::uint64_t wal_limit_bytes = 64u << 20;
// What of it stays in memory afterwards; more goes to tables before the objects are loaded.
inline constexpr std::uint64_t replay_kept_bytes = 4u << 20;
// As much as level 0 has before it is merged into the first: what is rewritten at once is twice
// that.
inline constexpr std::uint64_t level_bytes = 64u << 20;
inline constexpr int open_files = 128;

}  // namespace troupe::persistence::defaults
