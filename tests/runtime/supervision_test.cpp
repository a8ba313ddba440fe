#include <catch2/catch.hpp>

#include "runtime/defaults.hpp"
#include "runtime/simulation.hpp"
#include "runtime_support.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;

namespace {

struct say {
  std::string word;
};
struct explode {
  int how = 0;
};
struct quit {};

// The events, as text, of all actors of a scene.
using story = log_of<std::string>;

struct ward : actor {
  explicit ward(story* told) : told{told} { told->add("made " + name()); }
  ~ward() override { told->add("gone"); }
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&ward::on_say, &ward::on_explode, &ward::on_quit);
    return table;
  }
  void started() override { told->add("started " + name()); }
  void on_say(const say& m) { told->add(name() + " " + m.word); }
  void on_explode(const explode& m) {
    if (m.how == 1) throw 42;
    throw std::runtime_error{"boom"};
  }
  void on_quit(const quit&) { stop(); }
  story* told;
};

struct spawn_named {
  std::string name;
  bool restart = true;
};
struct stop_named {
  std::string name;
};
struct replace_named {
  std::string name;
};

struct supervisor : actor {
  explicit supervisor(story* told) : told{told} {}
  const behavior& make_behavior() const override {
    static const behavior table =
        handlers(&supervisor::on_spawn, &supervisor::on_stop, &supervisor::on_replace,
                 &supervisor::on_ended, &supervisor::on_explode, &supervisor::on_say);
    return table;
  }
  void on_spawn(const spawn_named& m) { spawn({"child", m.name, m.restart}, make<ward>(told)); }
  void on_stop(const stop_named& m) { stop_child(child_named(m.name)); }
  void on_replace(const replace_named& m) {
    const auto old = child_named(m.name);
    stop_child(old);
    const auto fresh = spawn({"child", m.name}, make<ward>(told));
    told->add(fresh == old ? "same" : "another");
  }
  void on_ended(const child_ended& m) {
    told->add("ended " + m.name + (m.reason.empty() ? "" : ": " + m.reason));
  }
  void on_explode(const explode&) { throw std::runtime_error{"top boom"}; }
  void on_say(const say& m) { tell(child_named(m.word), say{"hears"}); }
  actor_ref child_named(const std::string& name) const { return child("child", name); }
  story* told;
};

struct scene {
  scene() { all.settle(); }
  template <class M>
  void tell(M m) {
    top.tell(std::move(m));
    all.settle();
  }
  actor_ref find(const std::string& name) { return all.system().actors().find("child", name); }
  std::size_t count(const std::string& line) {
    std::size_t n = 0;
    for (const auto& each : told.all())
      n += each == line ? 1 : 0;
    return n;
  }

  story told;
  simulation all{3};
  actor_ref top = all.system().spawn({"supervisor", "top"}, make<supervisor>(&told));
};

}  // namespace

TEST_CASE("an actor that throws is restarted after a back-off and keeps its name and its mail",
          "[runtime]") {
  scene s;
  s.tell(spawn_named{"a"});
  const auto a = s.find("a");
  a.tell(explode{});
  a.tell(say{"one"});
  a.tell(say{"two"});
  s.all.settle();
  CHECK(a.tell(say{"three"}));
  s.all.advance(defaults::restart_backoff - 1ns);
  CHECK(s.told.all() == std::vector<std::string>{"made a", "started a", "gone"});
  s.all.advance(1ns);
  CHECK(s.told.all() == std::vector<std::string>{"made a", "started a", "gone", "made a",
                                                 "started a", "a one", "a two", "a three"});
  const auto row = s.all.system().actors().find(a.id());
  REQUIRE(row);
  CHECK(row->restarts == 1);
  CHECK(row->last_error == "boom");
  CHECK(s.find("a") == a);
}

TEST_CASE("the back-off doubles at each crash up to its maximum and begins again after a calm time",
          "[runtime]") {
  log_of<std::string> told;
  simulation all{1};
  const auto a = all.system().spawn({"child", "a"}, make<ward>(&told));
  all.settle();
  const auto restarts_after = [&] {
    a.tell(explode{});
    all.settle();
    const auto before = told.size();
    duration waited{0};
    while (told.size() == before) {
      all.advance(50ms);
      waited += 50ms;
    }
    return waited;
  };
  for (auto expected = defaults::restart_backoff; expected < defaults::restart_backoff_max;
       expected *= 2) {
    CHECK(restarts_after() == expected);
  }
  CHECK(restarts_after() == defaults::restart_backoff_max);
  CHECK(restarts_after() == defaults::restart_backoff_max);
  all.advance(defaults::restart_calm);
  CHECK(restarts_after() == defaults::restart_backoff);
}

TEST_CASE("a crash does not touch the siblings, nor the supervisor", "[runtime]") {
  scene s;
  s.tell(spawn_named{"a"});
  s.tell(spawn_named{"b"});
  s.find("a").tell(explode{});
  s.find("b").tell(say{"works"});
  s.all.settle();
  s.tell(say{"b"});
  CHECK(s.count("b works") == 1);
  CHECK(s.count("b hears") == 1);
  CHECK(s.count("gone") == 1);
}

TEST_CASE("a crash without restart ends the actor and tells its supervisor the reason",
          "[runtime]") {
  scene s;
  s.tell(spawn_named{"a", false});
  s.find("a").tell(explode{});
  s.all.settle();
  CHECK(s.count("ended a: boom") == 1);
  CHECK_FALSE(s.find("a"));
}

TEST_CASE("whatever is thrown, the actor is restarted", "[runtime]") {
  scene s;
  s.tell(spawn_named{"a"});
  s.find("a").tell(explode{1});
  s.all.advance(1s);
  CHECK(s.count("started a") == 2);
  CHECK(s.all.system().actors().find(s.find("a").id())->last_error ==
        "something that is not an exception");
}

TEST_CASE("the children of an actor that is restarted live on and are found again", "[runtime]") {
  scene s;
  s.tell(spawn_named{"a"});
  const auto a = s.find("a");
  s.tell(explode{});
  a.tell(say{"lives"});
  s.all.settle();
  CHECK(s.count("a lives") == 1);
  s.all.advance(1s);
  s.tell(spawn_named{"a"});
  CHECK(s.find("a") == a);
  CHECK(s.count("made a") == 1);
  s.tell(say{"a"});
  CHECK(s.count("a hears") == 1);
}

TEST_CASE("children end when their supervisor ends", "[runtime]") {
  scene s;
  for (const auto* each : {"a", "b", "c"})
    s.tell(spawn_named{each});
  CHECK(s.all.system().actors().size() == 4);
  s.all.system().stop(s.top);
  s.all.settle();
  CHECK(s.all.system().actors().size() == 0);
  CHECK(s.count("gone") == 3);
}

TEST_CASE("a supervisor hears of every child that has ended", "[runtime]") {
  scene s;
  s.tell(spawn_named{"a"});
  s.tell(spawn_named{"b"});
  s.find("a").tell(quit{});
  s.all.settle();
  s.tell(stop_named{"b"});
  CHECK(s.count("ended a") == 1);
  CHECK(s.count("ended b") == 1);
}

TEST_CASE("the name of a stopped child is free at once", "[runtime]") {
  scene s;
  s.tell(spawn_named{"a"});
  s.tell(replace_named{"a"});
  CHECK(s.count("another") == 1);
  CHECK(s.count("ended a") == 1);
  CHECK(s.count("made a") == 2);
  s.tell(say{"a"});
  CHECK(s.count("a hears") == 1);
}

TEST_CASE("an actor that cannot be made is tried again", "[runtime]") {
  int tries = 0;
  story told;
  simulation all{1};
  const auto a = all.system().spawn({"child", "a"}, [&]() -> std::unique_ptr<actor> {
    if (++tries == 1) throw std::runtime_error{"not yet"};
    if (tries == 2) return nullptr;
    return std::make_unique<ward>(&told);
  });
  a.tell(say{"patient"});
  all.advance(1s);
  CHECK(tries == 3);
  CHECK(told.all() == std::vector<std::string>{"made a", "started a", "a patient"});
}

TEST_CASE("each crash is reported with actor, reason and time of the restart", "[runtime]") {
  log_of<crash> reports;
  log_of<std::string> told;
  system_options options;
  options.on_crash = [&](const crash& c) { reports.add(c); };
  runtime::actor_system system{options};
  const auto a = system.spawn({"child", "a"}, make<ward>(&told));
  a.tell(explode{});
  REQUIRE(reports.await(1));
  const auto report = reports.all()[0];
  CHECK(report.id == a.id());
  CHECK(report.kind == "child");
  CHECK(report.name == "a");
  CHECK(report.message_type == "explode");
  CHECK(report.error == "boom");
  CHECK(report.restarts == 1);
  CHECK(report.restart_in == defaults::restart_backoff);
  REQUIRE(told.await(5));  // made, started, gone, made, started: the real clock restarts it
}

TEST_CASE("an actor that waits for its restart can be stopped", "[runtime]") {
  scene s;
  s.tell(spawn_named{"a"});
  const auto a = s.find("a");
  a.tell(explode{});
  s.all.settle();
  s.tell(stop_named{"a"});
  CHECK(s.count("ended a") == 1);
  CHECK_FALSE(a.tell(say{"late"}));
  s.all.advance(1h);
  CHECK(s.count("made a") == 1);
}

}  // namespace troupe::runtime
