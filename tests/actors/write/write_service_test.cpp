// The write service, with admission steps that call an external service.
#include "actors/write/write_service.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "actors/write/admission_fixture.hpp"
#include "actors/write/creation.hpp"
#include "api/schema/core_namespace.pb.h"

namespace troupe::test {

using actors::proposal;
using actors::write_outcome;
using actors::write_result;
using actors::admission::operation;
using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Pod;
namespace admission = actors::admission;
using namespace std::chrono_literals;

namespace {

using answer = std::function<void(admission::reply)>;

// Called for each ConfigMap and each pod. Answers at once, except for objects with the label
// "slow", which wait for the test.
class fake_step final : public admission::external_step {
 public:
  explicit fake_step(bool mutates) : mutates_{mutates} {}

  std::string_view name() const noexcept override { return "fake"; }
  bool mutates() const noexcept override { return mutates_; }
  bool handles(const api::kind_info& kind, operation, bool part) const override {
    return !part && (&kind == &api::kind_of<ConfigMap>() || &kind == &api::kind_of<Pod>());
  }
  runtime::duration timeout() const noexcept override { return 10s; }
  void ask(admission::question_ptr about, answer answer) const override {
    const auto& meta = about->now ? api::meta_of(*about->now) : about->before->meta();
    const bool slow = meta.labels().contains("slow");
    {
      const std::lock_guard lock{mutex_};
      ++asked_;
      last_ = about;
      if (slow) held_.push_back(answer);
    }
    changed_.notify_all();
    if (!slow) answer(change ? change(*about) : admission::reply{});
  }

  // The change that it makes to an object.
  std::function<admission::reply(const admission::question&)> change;

  // The next pending request.
  answer next() const {
    std::unique_lock lock{mutex_};
    REQUIRE(changed_.wait_for(lock, 60s, [&] { return !held_.empty(); }));
    auto first = std::move(held_.front());
    held_.erase(held_.begin());
    return first;
  }
  int asked() const {
    const std::lock_guard lock{mutex_};
    return asked_;
  }
  admission::question_ptr last() const {
    const std::lock_guard lock{mutex_};
    return last_;
  }

 private:
  const bool mutates_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::vector<answer> held_;
  mutable int asked_ = 0;
  mutable admission::question_ptr last_;
};

struct hand_clock final : runtime::clock {
  std::atomic<std::int64_t> seconds{0};
  runtime::time_point now() const noexcept override {
    return runtime::time_point{std::chrono::seconds{seconds}};
  }
  runtime::wall_time wall_now() const noexcept override {
    return runtime::wall_time{std::chrono::seconds{1'700'000'000 + seconds}};
  }
};

// Counts completed writes.
struct tally {
  void end(const write_outcome& outcome) {
    {
      const std::lock_guard lock{mutex};
      all.push_back(outcome.result);
    }
    changed.notify_all();
  }
  std::vector<api::expected<write_result>> wait(std::size_t count) {
    std::unique_lock lock{mutex};
    REQUIRE(changed.wait_for(lock, 60s, [&] { return all.size() >= count; }));
    return all;
  }
  std::size_t ended() {
    const std::lock_guard lock{mutex};
    return all.size();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<api::expected<write_result>> all;
};

struct service {
  explicit service(std::vector<std::shared_ptr<fake_step>> steps)
      : store{std::move(persistence::store::open({}).value())} {
    admission::external_step_list external{steps.begin(), steps.end()};
    auto chain =
        std::make_shared<admission::chain>(admission::built_in_plugins(), std::move(external));
    writes = std::make_unique<actors::write_service>(*store, time,
                                                     actors::write_options{.chain = chain});
    Namespace ns;
    ns.mutable_metadata()->set_name("default");
    create(std::make_unique<Namespace>(ns));
    ended->wait(1);
    ended = std::make_shared<tally>();
  }
  ~service() { writes.reset(); }

  void create(std::unique_ptr<api::body> content, bool dry_run = false) {
    const std::shared_ptr<const api::body> kept = std::move(content);
    carry_out(
        [kept](const persistence::snapshot&) -> api::expected<proposal> {
          std::unique_ptr<api::body> copy{kept->New()};
          copy->CopyFrom(*kept);
          return proposal{.kind = &api::kind_of_type(*kept->GetDescriptor()),
                          .after = std::move(copy)};
        },
        dry_run);
  }
  // Sets one value of a map, like a patch.
  void set(const std::string& name, const std::string& key, const std::string& value) {
    carry_out([=](const persistence::snapshot& state) -> api::expected<proposal> {
      const auto was = state.find(api::kind_of<ConfigMap>().key("default", name));
      if (!was) return api::fail(api::not_found(api::kind_of<ConfigMap>(), name));
      auto now = was->copy_as<ConfigMap>();
      (*now->mutable_data())[key] = value;
      return proposal{
          .kind = &was->kind(), .op = operation::update, .before = was, .after = std::move(now)};
    });
  }
  void carry_out(std::function<api::expected<proposal>(const persistence::snapshot&)> propose,
                 bool dry_run = false) {
    writes->carry_out({.propose = std::move(propose),
                       .done = [to = ended](const write_outcome& outcome) { to->end(outcome); },
                       .dry_run = dry_run});
  }
  api::object_ptr find(const std::string& name) const {
    return store->read().find(api::kind_of<ConfigMap>().key("default", name));
  }

  hand_clock time;
  std::unique_ptr<persistence::store> store;
  std::unique_ptr<actors::write_service> writes;
  std::shared_ptr<tally> ended = std::make_shared<tally>();
};

std::unique_ptr<ConfigMap> slow_map(const std::string& name) {
  auto made = config_map(name, "1");
  (*made->mutable_metadata()->mutable_labels())["slow"] = "yes";
  return made;
}

}  // namespace

TEST_CASE("while one write waits for an answer from outside a thousand others are carried out",
          "[admission]") {
  const auto step = std::make_shared<fake_step>(false);
  service s{{step}};
  s.create(slow_map("slow"));
  const auto late = step->next();
  for (int i = 0; i < 1'000; ++i)
    s.create(config_map("m" + std::to_string(i)));
  for (const auto& each : s.ended->wait(1'000))
    CHECK(each.has_value());
  CHECK_FALSE(s.find("slow"));
  CHECK(s.writes->count().waiting_external == 1);
  std::thread{[&] { late(admission::reply{}); }}.join();
  CHECK(s.ended->wait(1'001).back()->created);
  CHECK(s.find("slow"));
  late(admission::reply{});  // the first call counts
  CHECK(s.ended->ended() == 1'001);
}

TEST_CASE("a write that met a conflict while it waited is asked about again", "[admission]") {
  const auto step = std::make_shared<fake_step>(false);
  service s{{step}};
  s.create(slow_map("a"));
  step->next()(admission::reply{});
  s.ended->wait(1);
  s.set("a", "mine", "1");
  const auto first = step->next();
  s.set("a", "theirs", "1");
  const auto other = step->next();
  other(admission::reply{});
  s.ended->wait(2);
  first(admission::reply{});
  step->next()(admission::reply{});  // for the newer state
  CHECK(static_cast<const ConfigMap&>(*step->last()->now).data().contains("theirs"));
  CHECK(s.ended->wait(3).back().has_value());
  const auto& data = s.find("a")->as<ConfigMap>().data();
  CHECK(data.contains("mine"));
  CHECK(data.contains("theirs"));
}

TEST_CASE("a step that never answers ends the write at its time-out", "[admission]") {
  const auto step = std::make_shared<fake_step>(true);
  service s{{step}};
  s.create(slow_map("a"));
  const auto never = step->next();
  s.time.seconds = 9;
  s.writes->expire();
  CHECK(s.ended->ended() == 0);
  s.time.seconds = 10;
  s.writes->expire();
  const auto result = s.ended->wait(1).front();
  REQUIRE_FALSE(result);
  CHECK(result.error().code == 500);
  CHECK_THAT(result.error().message, Catch::Contains("failed calling admission step \"fake\""));
  never(admission::reply{});  // too late
  CHECK_FALSE(s.find("a"));
  CHECK(s.writes->count().waiting_external == 0);
}

TEST_CASE("a refusal from outside is the answer of the write", "[admission]") {
  const auto step = std::make_shared<fake_step>(false);
  service s{{step}};
  step->change = [](const admission::question& about) -> admission::reply {
    return api::fail(api::forbidden(*about.kind, api::meta_of(*about.now).name(), "says the fake"));
  };
  s.create(config_map("a"));
  CHECK(s.ended->wait(1).front().error().message == "configmaps \"a\" is forbidden: says the fake");
}

TEST_CASE("changes by an external step are defaulted, admitted and validated again",
          "[admission]") {
  const auto step = std::make_shared<fake_step>(true);
  service s{{step}};
  std::string chosen;
  step->change = [&](const admission::question& about) -> admission::reply {
    std::unique_ptr<api::body> copy{about.now->New()};
    copy->CopyFrom(*about.now);
    auto& spec = *static_cast<Pod&>(*copy).mutable_spec();
    if (chosen == "unknown") spec.set_priority_class_name("unknown");
    auto& added = *spec.add_containers();
    added.set_name(chosen == "invalid" ? "Not A Name" : "side");
    added.set_image("side:1");
    return copy;
  };
  chosen = "good";
  s.create(std::make_unique<Pod>(web_pod()));
  const auto made = s.ended->wait(1).back();
  REQUIRE(made);
  REQUIRE(made->object->as<Pod>().spec().containers_size() == 2);
  CHECK(made->object->as<Pod>().spec().containers(1).image_pull_policy() == "IfNotPresent");
  auto other = web_pod();
  other.mutable_metadata()->set_name("other");
  chosen = "unknown";
  s.create(std::make_unique<Pod>(other));
  CHECK_THAT(s.ended->wait(2).back().error().message, Catch::Contains("no PriorityClass"));
  chosen = "invalid";
  s.create(std::make_unique<Pod>(other));
  CHECK(s.ended->wait(3).back().error().code == 422);
}

TEST_CASE("a dry run is asked about and writes nothing", "[admission]") {
  const auto step = std::make_shared<fake_step>(false);
  service s{{step}};
  s.create(config_map("a"), true);
  const auto shown = s.ended->wait(1).front();
  REQUIRE(shown);
  CHECK(shown->created);
  CHECK(shown->object->meta().name() == "a");
  CHECK(step->last()->dry_run);
  CHECK_FALSE(s.find("a"));
}

TEST_CASE("a deletion is asked about with the object that goes", "[admission]") {
  const auto step = std::make_shared<fake_step>(false);
  service s{{step}};
  s.create(config_map("a"));
  s.ended->wait(1);
  s.carry_out([](const persistence::snapshot& state) -> api::expected<proposal> {
    return proposal{.kind = &api::kind_of<ConfigMap>(),
                    .op = operation::remove,
                    .rules = actors::write_rules::as_is,
                    .before = state.find(api::kind_of<ConfigMap>().key("default", "a"))};
  });
  CHECK(s.ended->wait(2).back()->removed);
  CHECK(step->last()->op == operation::remove);
  CHECK(step->last()->now == nullptr);
  CHECK(step->last()->before->meta().name() == "a");
}

TEST_CASE("a kind that no external step handles causes no request", "[admission]") {
  const auto step = std::make_shared<fake_step>(false);
  service s{{step}};
  Namespace ns;
  ns.mutable_metadata()->set_name("other");
  s.create(std::make_unique<Namespace>(ns));
  CHECK(s.ended->wait(1).front().has_value());
  CHECK(step->asked() == 0);
}

TEST_CASE("creations of a controller pass the external steps, and a barrier waits for them",
          "[admission]") {
  const auto step = std::make_shared<fake_step>(false);
  service s{{step}};
  std::mt19937_64 random{1};
  auto pod = web_pod();
  (*pod.mutable_metadata()->mutable_labels())["slow"] = "yes";
  auto made =
      actors::create_transaction(s.store->read(), api::kind_of<Pod>(), std::make_unique<Pod>(pod),
                                 actors::checks::done_before, s.time.wall_now(), random);
  REQUIRE(made);
  std::mutex mutex;
  std::vector<std::string> told;
  const auto tell = [&](std::string line) {
    const std::lock_guard lock{mutex};
    told.push_back(std::move(line));
  };
  s.writes->submit(std::move(*made), [&](const persistence::outcome& result) {
    tell(result ? "created" : result.error().message);
    s.ended->end({write_result{}});
  });
  const auto late = step->next();
  s.writes->barrier([&](const persistence::expected<persistence::revision>& reached) {
    tell(reached ? "barrier" : reached.error().message);
    s.ended->end({write_result{}});
  });
  CHECK(s.ended->ended() == 0);
  SECTION("that is created then") {
    late(admission::reply{});
    s.ended->wait(2);
    CHECK(told == std::vector<std::string>{"created", "barrier"});
  }
  SECTION("or refused") {
    late(api::fail(api::forbidden(api::kind_of<Pod>(), "web", "says the fake")));
    s.ended->wait(2);
    CHECK(told == std::vector<std::string>{"pods \"web\" is forbidden: says the fake", "barrier"});
  }
}

TEST_CASE("no more than a bounded number of writes wait outside", "[admission]") {
  const auto step = std::make_shared<fake_step>(false);
  service s{{step}};
  for (std::size_t i = 0; i <= actors::defaults::external_waiting; ++i)
    s.create(slow_map("m" + std::to_string(i)));
  const auto result = s.ended->wait(1).front();
  REQUIRE_FALSE(result);
  CHECK(result.error().code == 429);
  CHECK(s.writes->count().waiting_external == actors::defaults::external_waiting);
  s.writes.reset();  // every write must get an answer
  CHECK(s.ended->ended() == actors::defaults::external_waiting + 1);
}

}  // namespace troupe::test
