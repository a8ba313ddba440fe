#include "persistence/engine/rocks_options.hpp"

#include <rocksdb/memtablerep.h>
#include <rocksdb/table.h>

#include <algorithm>

#include "persistence/defaults.hpp"

namespace troupe::persistence {

file_sizes sizes_within(std::uint64_t reserve_bytes, std::uint64_t memory_bytes) {
  const std::uint64_t half = reserve_bytes / 2;
  const auto buffer = std::min(half / 4, memory_bytes / defaults::write_buffer_memory_part);
  return {std::min<std::uint64_t>(defaults::wal_limit_bytes, half),
          std::min<std::uint64_t>(defaults::write_buffer_bytes, buffer),
          std::min<std::uint64_t>(defaults::small_write_buffer_bytes, buffer),
          std::min<std::uint64_t>(defaults::level_bytes, half)};
}

rocksdb::DBOptions database_options(open_mode mode, const file_sizes& sizes) {
  rocksdb::DBOptions o;
  const bool strict = mode == open_mode::strict || mode == open_mode::rewrite;
  o.create_if_missing = strict;
  o.create_missing_column_families = strict || mode == open_mode::rescue;
  // A damaged record in the middle of the write-ahead log means that acknowledged writes are lost:
  // the store decides (open_mode), RocksDB must not drop it in silence.
  o.wal_recovery_mode = strict ? rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords
                               : rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  if (mode == open_mode::rescue) {
    o.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
    o.paranoid_checks = false;
  }
  o.max_bgerror_resume_count = 0;
  o.max_background_jobs = 2;
  o.max_file_opening_threads = 1;
  o.max_open_files = defaults::open_files;
  o.max_total_wal_size = sizes.wal_bytes;
  o.manifest_preallocation_size = std::min<std::size_t>(4u << 20, sizes.buffer_bytes / 4);
  // There is one writer: no need for code that shares work between writers.
  o.allow_concurrent_memtable_write = false;
  o.enable_write_thread_adaptive_yield = false;
  // Tables are written to disk continuously, so that the log's sync does not wait for them.
  o.bytes_per_sync = 1u << 20;
  o.stats_dump_period_sec = 0;
  o.stats_persist_period_sec = 0;
  o.skip_stats_update_on_db_open = true;
  return o;
}

rocksdb::ColumnFamilyOptions table_options(table target, const file_sizes& sizes) {
  rocksdb::ColumnFamilyOptions o;
  const bool busy = target == table::objects || target == table::changes;
  o.write_buffer_size = busy ? sizes.buffer_bytes : sizes.small_buffer_bytes;
  o.max_write_buffer_number = busy ? 4 : 2;
  // Objects are read at a start only: their memtable is sorted when it is read or flushed, and a
  // write costs no search in it.
  if (target == table::objects) o.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  o.arena_block_size = busy ? 256u << 10 : 16u << 10;
  // Short-lived data that moves down the levels unchanged; objects are small.
  o.compression = rocksdb::kNoCompression;
  o.bottommost_compression = rocksdb::kNoCompression;
  o.target_file_size_base = sizes.buffer_bytes;
  o.max_bytes_for_level_base = sizes.level_bytes;
  o.max_compaction_bytes = sizes.level_bytes;
  o.level0_slowdown_writes_trigger = 40;
  o.level0_stop_writes_trigger = 64;
  rocksdb::BlockBasedTableOptions t;
  // State is read once, at start, and history rarely: the page cache is enough.
  t.no_block_cache = true;
  t.block_size = 16u << 10;
  o.table_factory.reset(rocksdb::NewBlockBasedTableFactory(t));
  return o;
}

const char* table_name(table target) {
  switch (target) {
    case table::meta:
      return "default";
    case table::objects:
      return "objects";
    case table::changes:
      return "changes";
    case table::bases:
      return "bases";
  }
  return "";
}

}  // namespace troupe::persistence
