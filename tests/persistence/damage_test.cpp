// Directories that are damaged, in use, or not a store.
#include <fcntl.h>
#include <rocksdb/db.h>
#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "persistence/defaults.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/format/record.hpp"
#include "persistence/log/history.hpp"

namespace troupe::persistence::testing {
namespace {

namespace fs = std::filesystem;

void flip_bit(const fs::path& file, std::uintmax_t at) {
  std::fstream bytes{file, std::ios::in | std::ios::out | std::ios::binary};
  bytes.seekg(static_cast<std::streamoff>(at));
  const char old = static_cast<char>(bytes.get());
  bytes.seekp(static_cast<std::streamoff>(at));
  bytes.put(static_cast<char>(old ^ 0x10));
}

// Marks later revisions of the directory as never acknowledged.
void acknowledge(const std::string& directory, std::uint64_t at) {
  std::ofstream{directory + "/ACKNOWLEDGED"} << fmt::format("{:020} {:020}\n", at, ~at);
}

// A store with 20 objects whose last write begins at the returned size of the write-ahead log.
std::uintmax_t make_store(const std::string& directory) {
  const auto store = open(in_directory(directory));
  for (int i = 0; i < 20; ++i)
    must(commit(*store, just(put(std::to_string(i), "1", 100))));
  const auto before = fs::file_size(files_in(directory, ".log").back());
  must(commit(*store, just(put("last", "1", 100))));
  return before;
}

TEST_CASE("a torn end of the write-ahead log costs nothing that was acknowledged") {
  scratch_directory place;
  const auto before_last = make_store(place.path("whole"));
  const auto complete = fs::file_size(files_in(place.path("whole"), ".log").back());
  // According to this copy the last write was never acknowledged.
  acknowledge(place.path("whole"), 21);
  for (auto size = before_last; size < complete; size += 1 + (complete - before_last) / 25) {
    INFO("cut to " << size << " of " << complete);
    const auto copy = place.path("copy");
    fs::remove_all(copy);
    fs::copy(place.path("whole"), copy, fs::copy_options::recursive);
    fs::resize_file(files_in(copy, ".log").back(), size);
    const auto store = open(in_directory(copy));
    CHECK(store->read().size() == 20);
    CHECK(store->read().at() == 21);
    CHECK(must(commit(*store, just(put("last", "2")))) == 22);
  }
}

TEST_CASE("damage behind the last acknowledged write is dropped with a warning") {
  scratch_directory place;
  const auto damaged = make_store(place.path());
  {
    const auto store = open(in_directory(place.path()));
    must(commit(*store, just(put("later", "1", 100))));
  }
  // As after a power failure in which the newer of two writes reached the disk, and half of the
  // older.
  acknowledge(place.path(), 21);
  flip_bit(files_in(place.path(), ".log").front(), damaged + 40);
  const captured_log heard;
  const auto store = open(in_directory(place.path()));
  CHECK(store->read().size() == 20);
  CHECK_THAT(heard.text(), Catch::Contains("torn"));
  CHECK(must(commit(*store, just(put("last", "2")))) == 22);
}

TEST_CASE("a write-ahead log that has lost acknowledged writes is refused and left as it is") {
  scratch_directory place;
  const auto before_last = make_store(place.path());
  const auto log = files_in(place.path(), ".log").back();
  SECTION("by a flipped bit in the middle") {
    flip_bit(log, before_last / 2);
  }
  SECTION("by a missing end") {
    fs::resize_file(log, before_last / 2);
  }
  const auto size = fs::file_size(log);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto refused = refusal_of(place.path());
    CHECK(refused.code == errc::corrupt);
    CHECK_THAT(refused.message, Catch::Contains(place.path()) && Catch::Contains("backup"));
    CHECK(fs::file_size(log) == size);
  }
}

TEST_CASE("a flipped bit in a table is reported as corruption and never served") {
  scratch_directory place;
  make_store(place.path());
  {
    rocksdb::Options options;
    std::vector<rocksdb::ColumnFamilyDescriptor> columns;
    for (const auto* name : {"default", "objects", "changes", "bases"})
      columns.emplace_back(name, options);
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    REQUIRE(rocksdb::DB::Open(options, place.path(), columns, &handles, &db).ok());
    for (auto* each : handles) {
      REQUIRE(db->Flush({}, each).ok());
      db->DestroyColumnFamilyHandle(each).PermitUncheckedError();
    }
    delete db;
  }
  int refused = 0;
  for (const auto& file : files_in(place.path(), ".sst")) {
    flip_bit(file, fs::file_size(file) / 3);
    const auto opened = store::open(in_directory(place.path()));
    flip_bit(file, fs::file_size(file) / 3);
    if (opened) continue;  // possibly no byte of the table of `meta` that is read
    ++refused;
    CHECK(opened.error().code == errc::corrupt);
    CHECK_THAT(opened.error().message, Catch::Contains("damaged"));
  }
  CHECK(refused >= 2);
  CHECK(open(in_directory(place.path()))->read().size() == 21);
}

TEST_CASE("objects that the change log does not know are found when the store is opened") {
  scratch_directory place;
  make_store(place.path());
  auto disk = rocks_engine_in(place.path())(open_mode::strict);
  REQUIRE(disk);
  auto rows = (*disk)->make_batch();
  const auto row = (*disk)->get(table::objects, key_of("7"));
  REQUIRE(row->has_value());
  SECTION("a row is missing") {
    rows->remove(table::objects, key_of("7"));
  }
  SECTION("a row is too much") {
    rows->put(table::objects, key_of("x"), **row);
  }
  SECTION("a row's bytes differ") {
    auto other = **row;
    other.back() = static_cast<char>(other.back() ^ 1);
    rows->put(table::objects, key_of("7"), other);
  }
  SECTION("a row makes no sense") {
    rows->put(table::objects, key_of("7"), "\xff");
  }
  REQUIRE((*disk)->write(*rows, durability::synced));
  disk->reset();
  CHECK(refusal_of(place.path()).code == errc::corrupt);
}

TEST_CASE("objects or changes that are lost as a stretch are found without their log's name") {
  scratch_directory place;
  make_store(place.path());
  auto disk = rocks_engine_in(place.path())(open_mode::strict);
  REQUIRE(disk);
  auto rows = (*disk)->make_batch();
  std::string words;
  SECTION("changes") {
    rows->remove_range(table::changes, change_key({7, 0}), change_key({12, 0}));
    for (const auto* each : {"5", "6", "7", "8", "9"})
      rows->remove(table::objects, key_of(each));
    words = "revisions 7 to 11 are missing";
  }
  SECTION("objects that no kept change tells of") {
    rows->remove_range(table::changes, change_key({0, 0}), change_key({12, 0}));
    rows->put(table::meta, "compacted", "11");
    rows->remove(table::objects, key_of("3"));
    words = "there were 21 objects at revision 22, 20 are there";
  }
  SECTION("the newest changes and their objects") {
    rows->remove_range(table::changes, change_key({12, 0}), change_key({99, 0}));
    acknowledge(place.path(), 11);
    words = "the last batch was of revision 22, the change log ends with 11";
  }
  REQUIRE((*disk)->write(*rows, durability::synced));
  disk->reset();
  const auto refused = refusal_of(place.path());
  CHECK(refused.code == errc::corrupt);
  CHECK_THAT(refused.message, Catch::Contains(words));
}

TEST_CASE("a directory of format 1 opens with its history, and is guarded from then on") {
  scratch_directory place;
  make_store(place.path());
  const auto change_rows = [&](auto change) {
    auto disk = rocks_engine_in(place.path())(open_mode::strict);
    REQUIRE(disk);
    auto rows = (*disk)->make_batch();
    change(*rows);
    REQUIRE((*disk)->write(*rows, durability::synced));
  };
  change_rows([](write_batch& rows) {
    rows.put(table::meta, "format", "1");
    for (const auto* each : {"digest", "logs", "gaps"})
      rows.remove(table::meta, each);
    // Revisions that a kill left unused, before gaps were recorded.
    rows.remove_range(table::changes, change_key({2, 0}), change_key({5, 0}));
    for (const auto* each : {"0", "1", "2"})
      rows.remove(table::objects, key_of(each));
  });
  {
    const auto store = open(in_directory(place.path()));
    CHECK(store->read().size() == 18);
    CHECK(store->changes(1, 100)->size() == 18);
    must(commit(*store, just(put("later", "1"))));
  }
  CHECK(problems_in(place.path()) == std::vector<std::string>{});
  CHECK(open(in_directory(place.path()))->changes(1, 100)->size() == 19);
  change_rows([](write_batch& rows) {
    rows.remove_range(table::changes, change_key({0, 0}), change_key({20, 0}));
    rows.put(table::meta, "compacted", "19");
    rows.remove(table::objects, key_of("5"));
  });
  CHECK_THAT(refusal_of(place.path()).message, Catch::Contains("19 objects"));
}

TEST_CASE("a mark that is missing or makes no sense is written again, with a warning") {
  scratch_directory place;
  make_store(place.path());
  const auto mark = place.path() + "/ACKNOWLEDGED";
  std::ifstream file{mark};
  const std::string line{std::istreambuf_iterator<char>{file}, {}};
  SECTION("missing") {
    fs::remove(mark);
  }
  SECTION("cut") {
    fs::resize_file(mark, 20);
  }
  SECTION("a bit turned") {
    flip_bit(mark, 19);
  }
  const captured_log heard;
  CHECK(open(in_directory(place.path()))->read().size() == 21);
  CHECK_THAT(heard.text(), Catch::Contains("ACKNOWLEDGED is missing or damaged"));
  std::ifstream again{mark};
  CHECK(std::string{std::istreambuf_iterator<char>{again}, {}} == line);
}

TEST_CASE("history that cannot be read is an error, and nothing is left out") {
  scratch_directory place;
  make_store(place.path());
  {
    auto disk = rocks_engine_in(place.path())(open_mode::strict);
    REQUIRE(disk);
    // Only history older than the part that is read at start can be like this.
    auto rows = (*disk)->make_batch();
    rows->put(table::changes, change_key({9, 0}), "\xff");
    REQUIRE((*disk)->write(*rows, durability::synced));
    const auto now = tree_root::empty(22);
    const auto found = read_changes(**disk, *now, 1, 22, 100);
    REQUIRE_FALSE(found);
    CHECK(found.error().code == errc::corrupt);
    CHECK_THAT(found.error().message, Catch::Contains("revision 9, change 0"));
    CHECK(read_changes(**disk, *now, 9, 22, 100)->size() == 13);
  }
  CHECK(refusal_of(place.path()).code == errc::corrupt);
}

TEST_CASE("a second open in the same process reports that the directory is in use") {
  scratch_directory place;
  const auto first = open(in_directory(place.path()));
  const auto refused = refusal_of(place.path());
  CHECK(refused.code == errc::locked);
  CHECK_THAT(refused.message, Catch::Contains(place.path()) && Catch::Contains("in use"));
  must(commit(*first, just(put("a", "1"))));
}

TEST_CASE("a second process learns which process uses the directory") {
  scratch_directory place;
  make_store(place.path());
  // Another process holds RocksDB's lock, as a node would.
  const auto lock = place.path() + "/LOCK";
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t other = ::fork();
  if (other == 0) {
    struct flock range {};
    range.l_type = F_WRLCK;
    const int fd = ::open(lock.c_str(), O_RDWR);
    const bool held = ::fcntl(fd, F_SETLK, &range) == 0;
    if (held && ::write(ready[1], "y", 1) == 1) ::pause();
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = 0;
  CHECK(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  const auto refused = refusal_of(place.path());
  CHECK(refused.code == errc::locked);
  CHECK_THAT(refused.message, Catch::Contains(fmt::format("process {}", other)));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  CHECK(open(in_directory(place.path()))->read().size() == 21);
}

TEST_CASE("a directory of another format is refused, whichever way it differs") {
  scratch_directory place;
  make_store(place.path());
  auto disk = rocks_engine_in(place.path())(open_mode::strict);
  REQUIRE(disk);
  auto rows = (*disk)->make_batch();
  std::string words;
  SECTION("a later version") {
    rows->put(table::meta, "format", "3");
    words = "format 3";
  }
  SECTION("no version at all") {
    rows->remove(table::meta, "format");
    words = "without a format version";
  }
  SECTION("an object of an unknown kind") {
    rows->put(table::objects, "/registry/wonders/default/x", "\x01\x01xyz");
    words = "/registry/wonders/default/x";
  }
  REQUIRE((*disk)->write(*rows, durability::synced));
  disk->reset();
  const auto refused = refusal_of(place.path());
  CHECK(refused.code == errc::incompatible);
  CHECK_THAT(refused.message, Catch::Contains(words));
}

TEST_CASE("a database that is not a store of ours is refused") {
  scratch_directory place;
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  REQUIRE(rocksdb::DB::Open(options, place.path(), &db).ok());
  rocksdb::ColumnFamilyHandle* column = nullptr;
  REQUIRE(db->CreateColumnFamily({}, "treasures", &column).ok());
  db->DestroyColumnFamilyHandle(column).PermitUncheckedError();
  delete db;
  const auto refused = refusal_of(place.path());
  CHECK(refused.code == errc::incompatible);
  CHECK_THAT(refused.message, Catch::Contains("treasures"));
}

TEST_CASE("opening logs its findings in one line") {
  scratch_directory place;
  make_store(place.path());
  const captured_log heard;
  const auto store = open(in_directory(place.path()));
  CHECK_THAT(heard.text(), Catch::Contains("21 objects at revision 22") &&
                               Catch::Contains("the last 21 changes agree"));
}

}  // namespace
}  // namespace troupe::persistence::testing
