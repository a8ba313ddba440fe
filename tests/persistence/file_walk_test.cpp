// Damages every file of a store's folder, one at a time: removed, truncated, a bit flipped. Either
// the store refuses with a reason, or all acknowledged writes exist; no other result is allowed.
//
// A plain run takes a random sample with a printed seed (TROUPE_SEED repeats it); "[.long]" takes
// all.
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <map>
#include <random>

#include "persistence/engine/rocks_engine.hpp"
#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t sample = 40;
constexpr std::uintmax_t step_bytes = 1024;

// The acknowledged state.
struct promise {
  std::vector<std::string> objects;
  std::vector<std::string> history;
  revision at = 0;
  revision compacted = 0;
};

std::vector<std::string> history_of(const store& store) {
  const auto found = store.changes(store.stats().compacted, 1'000'000);
  REQUIRE(found);
  return lines_of(*found);
}

store_options walk_options(const std::string& directory) {
  auto options = in_directory(directory);
  options.threaded = false;
  return options;
}

// Opens the store so that the contents of the write-ahead logs go to tables.
std::unique_ptr<store> open_flushed(const std::string& directory) {
  return open(walk_options(directory), [made = rocks_engine_in(directory)](open_mode mode) {
    return made(mode == open_mode::strict ? open_mode::rewrite : mode);
  });
}

// A store over several runs, each of which ends as by kill -9: the next run uses a copy of the
// folder that was made while the store was open.
class lives {
 public:
  explicit lives(std::uint64_t seed) : random_{seed} {}

  std::string directory() const { return place_.path(std::to_string(life_)); }

  promise live() {
    for (int i = 0; i < 40; ++i)
      change(*open_);
    must(commit(*open_, just(put("last", std::to_string(life_)))));
    promise made{contents(open_->read()), history_of(*open_), open_->read().at(),
                 open_->stats().compacted};
    fs::copy(directory(), place_.path(std::to_string(life_ + 1)));
    open_.reset();
    ++life_;
    return made;
  }

  // Leaves tables, bases and several write-ahead logs behind.
  promise all() {
    open_ = open(walk_options(directory()));
    live();
    open_ = open_flushed(directory());
    REQUIRE(open_->compact(30));
    live();
    open_ = open_flushed(directory());
    live();
    promise made;
    for (int i = 0; i < 4; ++i) {
      open_ = open(walk_options(directory()));
      made = live();
    }
    return made;
  }

 private:
  void change(store& store) {
    const auto name = std::to_string(random_() % 60);
    const auto dice = random_() % 10;
    const auto value = std::to_string(random_());
    if (dice == 0)
      must(commit(store, just(put_lease("l" + name, value))));
    else
      must(commit(store, just(dice == 1 ? remove(name) : put(name, value, random_() % 800))));
  }

  scratch_directory place_;
  std::mt19937_64 random_;
  std::unique_ptr<store> open_;
  int life_ = 0;
};

struct mutation_of_file {
  enum class type { remove, cut, flip } how;
  std::string file;
  std::uintmax_t at = 0;  // the new size, or the offset of the byte
  int bit = 0;

  std::string str() const {
    const char* const words[] = {"removed", "cut to", "bit turned at byte"};
    return fmt::format("{} {} {} (bit {})", file, words[static_cast<int>(how)], at, bit);
  }
};

std::vector<mutation_of_file> mutations_of(const std::string& directory, std::mt19937_64& random) {
  using type = mutation_of_file::type;
  std::vector<mutation_of_file> all;
  std::vector<fs::path> files{fs::directory_iterator{directory}, fs::directory_iterator{}};
  std::sort(files.begin(), files.end());
  for (const auto& each : files) {
    const auto name = each.filename().string();
    const auto size = fs::file_size(each);
    all.push_back({type::remove, name});
    for (std::uintmax_t at = 0; at < size; at += step_bytes) {
      all.push_back({type::cut, name, at});
      all.push_back({type::flip, name, at + random() % std::min(step_bytes, size - at),
                     static_cast<int>(random() % 8)});
    }
    for (const std::uintmax_t less : {1, 7, 40})
      if (less < size) all.push_back({type::cut, name, size - less});
    if (size > 0)
      for (const std::uintmax_t before : {1, 5, 30, 60, 200})
        if (before < size)
          all.push_back({type::flip, name, size - before, static_cast<int>(random() % 8)});
  }
  return all;
}

void apply(const mutation_of_file& step, const fs::path& file) {
  if (step.how == mutation_of_file::type::remove) {
    fs::remove(file);
  } else if (step.how == mutation_of_file::type::cut) {
    fs::resize_file(file, step.at);
  } else {
    std::fstream bytes{file, std::ios::in | std::ios::out | std::ios::binary};
    bytes.seekg(static_cast<std::streamoff>(step.at));
    const char old = static_cast<char>(bytes.get());
    bytes.seekp(static_cast<std::streamoff>(step.at));
    bytes.put(static_cast<char>(old ^ (1 << step.bit)));
  }
}

// The bytes of all files except those that opening may create: a lock, the mark.
std::map<std::string, std::string> bytes_of(const std::string& directory) {
  std::map<std::string, std::string> all;
  for (const auto& each : fs::directory_iterator{directory}) {
    const auto name = each.path().filename().string();
    if (name == "LOCK" || name == "IDENTITY" || name == "ACKNOWLEDGED") continue;
    std::ifstream file{each.path(), std::ios::binary};
    all[name] = std::string{std::istreambuf_iterator<char>{file}, {}};
  }
  return all;
}

enum class walk_result { refused, refused_to_read, complete };

walk_result look(const std::string& directory, const promise& told) {
  auto opened = store::open(walk_options(directory));
  if (!opened) {
    CHECK_FALSE(opened.error().message.empty());
    return walk_result::refused;
  }
  auto& store = **opened;
  CHECK(contents(store.read()) == told.objects);
  CHECK(store.read().at() >= told.at);
  CHECK(store.stats().compacted == told.compacted);
  const auto history = store.changes(told.compacted, 1'000'000);
  if (!history) {
    CHECK(history.error().code == errc::corrupt);
    CHECK_FALSE(history.error().message.empty());
    return walk_result::refused_to_read;
  }
  CHECK(lines_of(*history) == told.history);
  return walk_result::complete;
}

struct walk_counts {
  std::map<std::string, std::array<int, 3>> by_kind;

  void add(const std::string& file, walk_result step) {
    const auto kind =
        file.find('.') != file.npos ? file.substr(file.find('.')) : file.substr(0, file.find('-'));
    ++by_kind[kind][static_cast<std::size_t>(step)];
  }
  std::string str() const {
    std::string text;
    for (const auto& [kind, counts] : by_kind)
      text += fmt::format("{}: {} refused, {} refused to read, {} whole\n", kind, counts[0],
                          counts[1], counts[2]);
    return text;
  }
};

// Otherwise the test would prove nothing about them.
bool has_tables_of_bases(const std::string& directory) {
  const auto disk = rocks_engine_in(directory)(open_mode::inspect);
  REQUIRE(disk);
  return !(*disk)->file_boundaries(table::bases).empty();
}

void walk(std::uint64_t seed, std::size_t limit) {
  spdlog::set_level(spdlog::level::critical);
  lives store_of{seed};
  const auto told = store_of.all();
  const auto directory = store_of.directory();
  std::mt19937_64 random{seed};
  auto mutations = mutations_of(directory, random);
  std::shuffle(mutations.begin(), mutations.end(), random);
  if (mutations.size() > limit) mutations.resize(limit);
  walk_counts counts;
  scratch_directory place;
  const auto copy = place.path();
  fs::copy(directory, copy);
  REQUIRE(has_tables_of_bases(copy));
  for (const auto& each : mutations) {
    INFO(each.str());
    fs::remove_all(copy);
    fs::copy(directory, copy);
    apply(each, fs::path{copy} / each.file);
    const auto before = bytes_of(copy);
    const auto problems = problems_in(copy);
    CHECK(bytes_of(copy) == before);
    INFO(fmt::format("{}", fmt::join(problems, "; ")));
    const auto seen = look(copy, told);
    if (seen == walk_result::refused) CHECK(bytes_of(copy) == before);
    // Reads every block, also those without any live data.
    CHECK((seen == walk_result::complete || !problems.empty()));
    counts.add(each.file, seen);
  }
  spdlog::set_level(spdlog::level::info);
  if (limit > sample) fmt::print("seed {}, {} mutations\n{}", seed, mutations.size(), counts.str());
}

std::uint64_t seed() {
  const char* wanted = ::getenv("TROUPE_SEED");
  return wanted == nullptr ? std::random_device{}() : std::strtoull(wanted, nullptr, 10);
}

TEST_CASE("a damaged file is refused with a reason, or costs nothing that was acknowledged") {
  const auto of = seed();
  INFO("TROUPE_SEED=" << of);
  walk(of, sample);
}

TEST_CASE("every file is removed and cut at each kilobyte and a bit turned in each", "[.long]") {
  const auto of = seed();
  INFO("TROUPE_SEED=" << of);
  walk(of, std::numeric_limits<std::size_t>::max());
}

}  // namespace
}  // namespace troupe::persistence::testing
