// The script writer in an actor of the test, with scripts that the test
// answers.
#include "actors/network/nft/script_writer.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "runtime/actor_system.hpp"
#include "runtime/simulation.hpp"

namespace troupe::test {

using namespace actors::nft;
using namespace std::chrono_literals;

namespace {

struct look {};
struct look_at_once {};
struct look_at_removal {};

struct record {
  std::vector<std::string> scripts, ends;
  std::vector<script_id> ids;
  int idle = 0;
  bool changed = false;
};
using record_ptr = std::shared_ptr<record>;

class table_actor : public runtime::actor {
 public:
  explicit table_actor(record_ptr to)
      : record_{std::move(to)},
        writer_{{.subject = "the rules of a test",
                 .text = [this](extent wanted) { return text(wanted); },
                 .give =
                     [this](std::string text, script_id script) {
                       record_->scripts.push_back(std::move(text));
                       record_->ids.push_back(std::move(script));
                     },
                 .ended = [this](const std::string& problem) { record_->ends.push_back(problem); },
                 .up_to_date = [this] { ++record_->idle; },
                 .after = [this](auto delay,
                                 auto action) { return after(delay, std::move(action)); }}} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&table_actor::on_look, &table_actor::on_look_at_once,
                          &table_actor::on_removal, &table_actor::on_done);
    return table;
  }
  void started() override { writer_.write(); }

 private:
  void on_look(const look&) { writer_.write(); }
  void on_look_at_once(const look_at_once&) { writer_.write_at_once(); }
  void on_removal(const look_at_removal&) { writer_.restore(); }
  void on_done(const script_done& m) { writer_.on_done(m); }
  std::string text(extent wanted) {
    if (wanted == extent::probe) return "probe";
    if (wanted == extent::whole) return "whole";
    return std::exchange(record_->changed, false) ? "difference" : "";
  }

  const record_ptr record_;
  script_writer writer_;
};

struct written_table {
  record_ptr seen = std::make_shared<record>();
  runtime::simulation simulation{1};
  runtime::actor_ref actor = simulation.system().spawn({.kind = "table", .name = "test"},
                                                       runtime::make<table_actor>(seen));

  written_table() {
    simulation.settle();
    REQUIRE(seen->scripts == std::vector<std::string>{"whole"});
  }
  void end(const std::string& problem = {}) { end(seen->ids.back(), problem); }
  void end(const script_id& script, const std::string& problem) {
    actor.tell(script_done{script, problem});
    simulation.settle();
  }
  void change() {
    seen->changed = true;
    actor.tell(look{});
    simulation.settle();
  }
  const std::string& last() const { return seen->scripts.back(); }
};

}  // namespace

TEST_CASE("changes during a script go together with the next one", "[services]") {
  written_table t;
  t.change();
  t.change();
  CHECK(t.seen->scripts.size() == 1);
  t.end();
  CHECK(t.seen->scripts == std::vector<std::string>{"whole", "difference"});
  t.end();
  CHECK(t.seen->scripts.size() == 2);
  CHECK(t.seen->ends == std::vector<std::string>{"", ""});
  CHECK(t.seen->idle == 1);
}

TEST_CASE("after a failure the whole follows, later each time until one succeeds", "[services]") {
  written_table t;
  for (const auto pause : {2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    const auto before = t.seen->scripts.size();
    t.end("nft: no");
    t.change();
    t.simulation.advance(pause - 1s);
    CHECK(t.seen->scripts.size() == before);
    t.simulation.advance(2s);
    REQUIRE(t.seen->scripts.size() == before + 1);
    CHECK(t.last() == "whole");
  }
  t.end();
  CHECK(t.last() == "difference");
  t.end("nft: no");
  t.simulation.advance(3s);
  CHECK(t.last() == "whole");
}

TEST_CASE("who waits need not wait for the pause", "[services]") {
  written_table t;
  t.end("nft: no");
  t.actor.tell(look_at_once{});
  t.simulation.settle();
  CHECK(t.seen->scripts == std::vector<std::string>{"whole", "whole"});
}

TEST_CASE("a script that is not answered counts as failed, and its answer no more", "[services]") {
  written_table t;
  const auto lost = t.seen->ids.back();
  t.simulation.advance(121s);
  CHECK(t.seen->ends == std::vector<std::string>{"nft has not ended after 120s"});
  t.simulation.advance(2s);
  CHECK(t.seen->scripts == std::vector<std::string>{"whole", "whole"});
  t.end(lost, "");
  CHECK(t.seen->ends.size() == 1);
  t.end();
  CHECK(t.seen->ends.size() == 2);
}

TEST_CASE("it is asked whether the table is there", "[services]") {
  written_table t;
  t.end();
  for (std::size_t scripts = 2; scripts < 50; ++scripts) {
    t.simulation.advance(30s);
    REQUIRE(t.seen->scripts.size() == scripts);
    CHECK(t.last() == "probe");
    t.end();
  }
  SECTION("a table that has gone is written again") {
    t.simulation.advance(30s);
    t.end("nft: No such file or directory");
    t.simulation.advance(2s);
    CHECK(t.last() == "whole");
  }
  SECTION("what changes meanwhile goes first") {
    t.simulation.advance(30s);
    t.change();
    t.end();
    CHECK(t.last() == "difference");
    t.simulation.advance(30s);
    CHECK(t.last() == "difference");
    t.end();
    t.simulation.advance(30s);
    CHECK(t.last() == "probe");
  }
}

TEST_CASE("what another program took away is written again as a whole after a moment",
          "[services]") {
  written_table t;
  const auto removed = [&] {
    t.actor.tell(look_at_removal{});
    t.simulation.settle();
  };
  SECTION("once for all that it took") {
    t.end();
    removed();
    removed();
    CHECK(t.seen->scripts.size() == 1);
    t.simulation.advance(1s);
    CHECK(t.seen->scripts == std::vector<std::string>{"whole", "whole"});
    t.end();
    t.simulation.advance(10s);
    CHECK(t.seen->scripts.size() == 2);
  }
  SECTION("also during a script of ours") {
    removed();
    t.simulation.advance(2s);
    CHECK(t.seen->scripts.size() == 1);
    t.end();
    CHECK(t.seen->scripts == std::vector<std::string>{"whole", "whole"});
  }
  SECTION("with the next attempt after a failure") {
    t.end("nft: no");
    removed();
    t.simulation.advance(10s);
    CHECK(t.seen->scripts == std::vector<std::string>{"whole", "whole"});
  }
}

}  // namespace troupe::test
