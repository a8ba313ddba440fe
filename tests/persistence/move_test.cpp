// Copies of a cluster's state between directories, shared logs and files.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "persistence/engine/memory_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/move/directory_state.hpp"
#include "persistence/move/file_state.hpp"
#include "persistence/move/log_state.hpp"
#include "persistence/replica/based_log.hpp"
#include "persistence/replica/cluster_record.hpp"
#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence::testing {

namespace {

namespace fs = std::filesystem;

const auto nobody = [](const copy_report&) {};
const auto hour = events_with_leases(std::chrono::hours{1});

struct model_place {
  model_cluster cluster;
  model_log log{cluster, {}};
  blocking_log asked{log, "the model", std::chrono::seconds{60}};
};

// The stored rows by key: the value of the map and both revisions.
std::vector<std::string> rows_of(state_source& from) {
  std::vector<std::string> rows;
  for (;;) {
    auto items = from.next();
    REQUIRE(items);
    if (items->empty()) return rows;
    for (const auto& each : *items)
      rows.push_back(each.key + "@" + std::to_string(each.created) + "," +
                     std::to_string(each.modified) + ":" + each.value);
  }
}

// Creates, changes and deletes objects. Returns the last revision.
revision fill(const std::string& path, int objects) {
  const auto store = open(in_directory(path));
  revision last = 0;
  for (int i = 0; i < objects; ++i)
    last = must(commit(*store, just(put("m" + std::to_string(i), "v" + std::to_string(i)))));
  for (int i = 0; i < objects; i += 3)
    last = must(commit(*store, just(put("m" + std::to_string(i), "changed"))));
  for (int i = 1; i < objects; i += 5)
    last = must(commit(*store, just(remove("m" + std::to_string(i)))));
  return last;
}

expected<copy_report> copy_into(const std::string& from, state_target& to) {
  auto source = directory_source::open(from);
  REQUIRE(source);
  return copy_state(**source, to, nobody);
}

std::vector<std::string> rows_in(const std::string& directory) {
  auto source = directory_source::open(directory);
  REQUIRE(source);
  return rows_of(**source);
}

std::vector<std::string> names_and_values(const snapshot& state) {
  std::vector<std::string> all;
  for (const auto& each : contents(state))
    all.push_back(each.substr(0, each.rfind('@')));
  return all;
}

}  // namespace

TEST_CASE("a backup holds every object with its revisions, and a store is made of it", "[move]") {
  const captured_log log;
  const scratch_directory place;
  const auto last = fill(place.path("a"), 200);
  {
    const auto to = file_target::open(place.path("backup"), {{"ca.crt", "authority"}});
    REQUIRE(to);
    const auto done = copy_into(place.path("a"), **to);
    REQUIRE(done);
    CHECK(done->head.at >= last);
    CHECK(done->objects == 160);
  }
  CHECK((fs::status(place.path("backup")).permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  const auto from = file_source::open(place.path("backup"));
  REQUIRE(from);
  CHECK((*from)->files() == state_files{{"ca.crt", "authority"}});
  const auto to = directory_target::open(place.path("b"));
  REQUIRE(to);
  REQUIRE(copy_state(**from, **to, nobody));
  CHECK(rows_in(place.path("b")) == rows_in(place.path("a")));
  CHECK((fs::status(place.path("b")).permissions() & fs::perms::all) == fs::perms::owner_all);

  const auto before = open(in_directory(place.path("a")));
  const auto after = open(in_directory(place.path("b")));
  CHECK(contents(after->read()) == contents(before->read()));
  CHECK(after->cluster_id() == before->cluster_id());
  CHECK(must(commit(*after, just(put("new", "1")))) > last);
  CHECK_FALSE(fs::exists(place.path("b.partial")));
}

TEST_CASE("a restored state goes on far behind the revisions that clients have seen",
          "[move][replica]") {
  const captured_log log;
  const scratch_directory place;
  const auto last = fill(place.path("a"), 20);
  const auto before = rows_in(place.path("a"));
  auto source = directory_source::open(place.path("a"));
  REQUIRE(source);
  const auto at = (*source)->head().at + defaults::restore_gap;
  restored_source restored{**source};
  SECTION("in a directory") {
    const auto to = directory_target::open(place.path("b"));
    REQUIRE(to);
    CHECK(copy_state(restored, **to, nobody)->head.at == at);
    CHECK(rows_in(place.path("b")) == before);
    const auto after = open(in_directory(place.path("b")));
    CHECK(after->read().at() >= at);
    CHECK(must(commit(*after, just(put("new", "1")))) > at);
    const auto lost = after->changes(last + 1, 1);
    REQUIRE_FALSE(lost);
    CHECK(lost.error().code == errc::compacted);
  }
  SECTION("in a log") {
    model_place shared;
    log_target to{shared.asked, {}, hour};
    REQUIRE(copy_state(restored, to, nobody));
    CHECK(join_cluster(shared.asked)->base == at);
  }
}

TEST_CASE("two backups do not write one file at the same time", "[move]") {
  const captured_log log;
  const scratch_directory place;
  fill(place.path("a"), 50);
  const auto source = directory_source::open(place.path("a"));
  REQUIRE(source);
  const auto first = file_target::open(place.path("backup"), {});
  REQUIRE(first);
  REQUIRE((*first)->begin((*source)->head()));
  {
    const auto second = file_target::open(place.path("backup"), {});
    REQUIRE(second);
    CHECK((*second)->begin((*source)->head()).error().code == errc::invalid);
  }
  for (;;) {
    auto items = (*source)->next();
    REQUIRE(items);
    if (items->empty()) break;
    REQUIRE((*first)->add(std::move(*items)));
  }
  REQUIRE((*first)->finish());
  CHECK(file_source::open(place.path("backup")));
  CHECK_FALSE(fs::exists(place.path("backup.partial")));

  // The file of one that was killed is no obstacle.
  std::ofstream{place.path("next.partial")} << "half";
  const auto next = file_target::open(place.path("next"), {});
  REQUIRE(next);
  CHECK((*next)->begin((*source)->head()));
}

TEST_CASE("a backup that is damaged or cut short is refused", "[move]") {
  const captured_log log;
  const scratch_directory place;
  fill(place.path("a"), 50);
  const auto to = file_target::open(place.path("backup"), {});
  REQUIRE(to);
  REQUIRE(copy_into(place.path("a"), **to));
  CHECK(file_target::open(place.path("backup"), {}).error().code == errc::invalid);
  const auto size = fs::file_size(place.path("backup"));
  for (std::uintmax_t kept = 0; kept < size; kept += 100) {
    CAPTURE(kept);
    fs::copy_file(place.path("backup"), place.path("cut"), fs::copy_options::overwrite_existing);
    fs::resize_file(place.path("cut"), kept);
    CHECK_FALSE(file_source::open(place.path("cut")));
  }
  for (std::uintmax_t at = 0; at < size; at += 97) {
    CAPTURE(at);
    fs::copy_file(place.path("backup"), place.path("cut"), fs::copy_options::overwrite_existing);
    std::fstream file{place.path("cut"), std::ios::in | std::ios::out | std::ios::binary};
    file.seekg(static_cast<std::streamoff>(at));
    const auto byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x10));
    file.close();
    // Refused, or the same: some bytes of a table have no meaning.
    const auto from = file_source::open(place.path("cut"));
    if (from) CHECK(rows_of(**from) == rows_in(place.path("a")));
  }
}

TEST_CASE("a state goes into a log and back, and no revision runs backwards", "[move][replica]") {
  const captured_log log;
  const scratch_directory place;
  const auto last = fill(place.path("a"), 300);
  const auto before = names_and_values(open(in_directory(place.path("a")))->read());
  model_place shared;
  log_target to{shared.asked, {}, hour};
  const auto done = copy_into(place.path("a"), to);
  REQUIRE(done);

  const auto record = join_cluster(shared.asked);
  REQUIRE(record);
  CHECK(record->cluster == done->head.cluster);
  const auto opened = replicated_store::open(
      {}, memory_engine_on(std::make_shared<memory_disk>()),
      std::make_unique<based_log>(std::make_unique<model_log>(shared.cluster, model_faults{}),
                                  record->base),
      record->identity(), "s");
  REQUIRE(opened);
  reach(**opened);
  CHECK(names_and_values((*opened)->read()) == before);
  for (const auto& each : contents((*opened)->read()))
    CHECK(std::stoull(each.substr(each.rfind('@') + 1)) > last);
  const auto newest = must(commit(**opened, just(put("new", "1"))));
  CHECK(newest > last);

  const auto from = log_source::open(shared.asked);
  REQUIRE(from);
  const auto back = directory_target::open(place.path("b"));
  REQUIRE(back);
  REQUIRE(copy_state(**from, **back, nobody));
  const auto after = open(in_directory(place.path("b")));
  CHECK(contents(after->read()) == contents((*opened)->read()));
  CHECK(must(commit(*after, just(put("newer", "1")))) > newest);
}

TEST_CASE("a copy into a log goes on where it was interrupted, and is served when it is whole",
          "[move][replica]") {
  const captured_log log;
  const scratch_directory place;
  fill(place.path("a"), 300);
  fill(place.path("other"), 10);
  model_place shared;
  auto source = directory_source::open(place.path("a"));
  REQUIRE(source);
  {
    log_target half{shared.asked, {}, hour};
    REQUIRE(half.begin((*source)->head()));
    auto items = (*source)->next();
    REQUIRE(items);
    items->resize(items->size() / 2);
    REQUIRE(half.add(std::move(*items)));
  }
  source->reset();
  CHECK(join_cluster(shared.asked).error().code == errc::invalid);
  log_target foreign{shared.asked, {}, hour};
  CHECK(copy_into(place.path("other"), foreign).error().code == errc::invalid);

  const auto written = shared.cluster.newest();
  log_target again{shared.asked, {}, hour};
  REQUIRE(copy_into(place.path("a"), again));
  CHECK(shared.cluster.newest() - written <= 3);  // 240 objects, half of them again, in parts
  REQUIRE(join_cluster(shared.asked));
  std::size_t objects = 0;
  for (const auto& [key, value] : shared.cluster.values())
    objects += !key.starts_with(own_prefix);
  CHECK(objects == rows_in(place.path("a")).size());
  log_target third{shared.asked, {}, hour};
  CHECK(copy_into(place.path("a"), third).error().code == errc::invalid);
}

TEST_CASE("a directory or a log that holds something is not overwritten", "[move]") {
  const captured_log log;
  const scratch_directory place;
  fill(place.path("a"), 5);
  CHECK(directory_target::open(place.path("a")).error().code == errc::invalid);
  CHECK(directory_source::open(place.path("nothing")).error().code == errc::io);
  model_place shared;
  shared.cluster.execute({{}, {{"/registry/pods/default/x", "of somebody"}}});
  log_target to{shared.asked, {}, hour};
  CHECK(copy_into(place.path("a"), to).error().code == errc::invalid);
  CHECK(shared.cluster.values().size() == 1);
}

TEST_CASE("a state is not copied into a log that a control plane serves, which is named",
          "[move][replica]") {
  const captured_log log;
  const scratch_directory place;
  fill(place.path("a"), 5);
  model_place shared;
  REQUIRE(join_cluster(shared.asked));
  log_target to{shared.asked, {}, hour};
  CHECK_THAT(copy_into(place.path("a"), to).error().message,
             Catch::Contains("holds a cluster already, or"));
  shared.cluster.execute({{}, {{std::string{leader_key}, leader_text({0, "two", "number", {}})}}});
  CHECK_THAT(copy_into(place.path("a"), to).error().message,
             Catch::Contains("which the control plane two serves"));
}

TEST_CASE("a log is read without a write, and only one that holds a cluster", "[move][replica]") {
  const captured_log log;
  model_place shared;
  shared.cluster.execute({{}, {{"/registry/pods/default/x", "of somebody"}}});
  CHECK(log_source::open(shared.asked).error().code == errc::invalid);
  CHECK(shared.cluster.values().size() == 1);
  REQUIRE(join_cluster(shared.asked));
  const auto before = shared.cluster.newest();
  CHECK(log_source::open(shared.asked));
  CHECK(shared.cluster.newest() == before);
}

TEST_CASE("the record of a cluster is read as it was written, and nothing else is", "[replica]") {
  const cluster_record record{"id", "log", 17};
  CHECK(read_cluster(cluster_text(record)) == record);
  auto copied = record;
  copied.copied_from = "x at 5";
  CHECK(read_cluster(cluster_text(copied)) == copied);
  for (const auto* text :
       {"", "\n", "cluster a\n", "cluster a\nlog b\n", "cluster a\nlog b\nbase x\n",
        "cluster a\nlog b\nbase 1", "cluster a\nlog b\nbase 1\nmore\n",
        "cluster a\nlog b\nbase 1\nformat x\n", "cluster a\nlog b\nbase 1\nlayout other\n",
        "cluster a\ncluster b\nlog b\nbase 1\n", "cluster \nlog b\nbase 1\n"}) {
    CAPTURE(text);
    CHECK_FALSE(read_cluster(text));
  }
}

TEST_CASE("a cluster is served by every version that knows its format", "[replica]") {
  const captured_log log;
  // Versions without a number for the format read exactly these lines.
  CHECK(cluster_text({"id", "log", 17, {}, true}) ==
        "cluster id\nlog log\nbase 17\nlayout upstream\n");
  model_place shared;
  auto known = *join_cluster(shared.asked);
  const auto write = [&](const std::string& text) {
    shared.cluster.execute({{}, {{std::string{cluster_key}, text}}});
  };
  // Lines of a newer version are kept when this one writes the record.
  known.log = "before a restore";
  write(cluster_text(known) + "later line\n");
  const auto joined = join_cluster(shared.asked);
  REQUIRE(joined);
  CHECK(joined->base == defaults::restore_gap);
  CHECK(shared.cluster.find(std::string{cluster_key})->value == cluster_text(*joined));
  CHECK(cluster_text(*joined).ends_with("layout upstream\nlater line\n"));

  for (const auto& [format, remedy] : {std::pair{newest_log_format + 1, "use a newer one"},
                                       {oldest_log_format - 1, "use an older one"}}) {
    auto other = *joined;
    other.format = format;
    write(cluster_text(other));
    for (const auto& refused :
         {join_cluster(shared.asked).error(), find_cluster(shared.asked).error()}) {
      CHECK(refused.code == errc::invalid);
      CHECK_THAT(refused.message,
                 Catch::Contains(fmt::format("has format {}", format)) && Catch::Contains(remedy));
    }
    CHECK(shared.cluster.find(std::string{cluster_key})->value == cluster_text(other));
  }
}

TEST_CASE("revisions go on far behind those of before where a log was restored", "[replica]") {
  const captured_log log;
  model_place shared;
  const auto first = join_cluster(shared.asked);
  REQUIRE(first);
  CHECK(first->base == 0);
  CHECK(*join_cluster(shared.asked) == *first);
  // A restored etcd has another id.
  auto before = *first;
  before.log = "another";
  shared.cluster.execute({{}, {{std::string{cluster_key}, cluster_text(before)}}});
  {
    const auto source = log_source::open(shared.asked);
    REQUIRE(source);
    CHECK((*source)->head().at == defaults::restore_gap + shared.cluster.newest());
  }
  const auto next = join_cluster(shared.asked);
  REQUIRE(next);
  CHECK(next->base == defaults::restore_gap);
  CHECK(next->cluster == first->cluster);
  CHECK(next->identity() != first->identity());
  CHECK(*join_cluster(shared.asked) == *next);
  shared.cluster.execute({{}, {{std::string{cluster_key}, "of tomorrow"}}});
  CHECK(join_cluster(shared.asked).error().code == errc::invalid);
}

}  // namespace troupe::persistence::testing
