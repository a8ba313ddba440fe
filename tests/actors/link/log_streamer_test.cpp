// Reading a log on a joined machine: within the credit, and to the very end.
#include "actors/link/log_streamer.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <utility>
#include <vector>

#include "actors/defaults.hpp"
#include "actors/kubelet/machine.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

// Receives the parts in place of the gateway.
class part_collector : public runtime::actor {
 public:
  struct parts {
    std::mutex mutex;
    std::vector<actors::log_part> all;

    std::vector<actors::log_part> now() {
      const std::lock_guard lock{mutex};
      return all;
    }
    bool ended() {
      const auto seen = now();
      return !seen.empty() && seen.back().ended;
    }
    std::string text() {
      std::string content;
      for (const auto& each : now())
        content += each.text;
      return content;
    }
  };

  explicit part_collector(std::shared_ptr<parts> into) : into_{std::move(into)} {}
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&part_collector::on_part);
    return table;
  }

 private:
  void on_part(const actors::log_part& m) {
    const std::lock_guard lock{into_->mutex};
    into_->all.push_back(m);
  }
  const std::shared_ptr<parts> into_;
};

// A log in memory. Reads are answered by the test, or at once.
class held_log : public actors::log_source {
 public:
  struct state {
    std::mutex mutex;
    std::string text;  // unread text
    bool at_once = true, missing = false;
    std::function<void(actors::log_text)> waiting;
    std::atomic<int> reads{0};
  };
  explicit held_log(std::shared_ptr<state> log) : log_{std::move(log)} {}

  std::unique_ptr<actors::log_stream> open_log(const actors::log_address&,
                                               actors::log_query) override {
    return std::make_unique<stream>(log_);
  }

 private:
  struct stream : actors::log_stream {
    explicit stream(std::shared_ptr<state> log) : log{std::move(log)} {}
    void read(std::function<void(actors::log_text)> done) override {
      std::unique_lock lock{log->mutex};
      ++log->reads;
      if (!log->at_once) {
        log->waiting = std::move(done);
        return;
      }
      const auto part = log->text.substr(0, actors::defaults::log_part_bytes);
      log->text.erase(0, part.size());
      const bool missing = log->missing;
      lock.unlock();
      done({.text = part, .missing = missing});
    }
    const std::shared_ptr<state> log;
  };
  const std::shared_ptr<state> log_;
};

struct telling {
  runtime::actor_ref start(bool follow, std::uint32_t credit) {
    const actors::log_request request{
        .id = 1, .from = {}, .query = {}, .follow = follow, .credit = credit};
    return system.spawn({.kind = "log", .name = "1", .restart = false},
                        runtime::make<actors::log_streamer>(
                            request, std::shared_ptr<actors::log_source>{source}, collector));
  }
  bool is_asked() const {
    return machine::wait([&] {
      const std::lock_guard lock{log->mutex};
      return static_cast<bool>(log->waiting);
    });
  }
  void answer(const std::string& text) const {
    std::unique_lock lock{log->mutex};
    const auto done = std::exchange(log->waiting, {});
    lock.unlock();
    done({.text = text});
  }
  std::uint64_t handled(const runtime::actor_ref& actor) const {
    return system.actors().find(actor.id())->handled;
  }

  const std::shared_ptr<held_log::state> log = std::make_shared<held_log::state>();
  const std::shared_ptr<held_log> source = std::make_shared<held_log>(log);
  const std::shared_ptr<part_collector::parts> parts = std::make_shared<part_collector::parts>();
  runtime::actor_system system;
  const runtime::actor_ref collector =
      system.spawn({.kind = "test", .name = "collector"}, runtime::make<part_collector>(parts));
};

}  // namespace

TEST_CASE("a log that ends while it is read is read once more", "[link]") {
  telling t;
  t.log->at_once = false;
  const auto streamer = t.start(true, 10);
  REQUIRE(t.is_asked());
  t.answer("early\n");
  REQUIRE(t.is_asked());
  // The container's last output came after this read and before its end was reported.
  const auto before = t.handled(streamer);
  REQUIRE(streamer.tell(actors::finish_log{1}));
  REQUIRE(machine::wait([&] { return t.handled(streamer) > before; }));
  t.answer({});
  REQUIRE(t.is_asked());
  t.answer("late\n");
  REQUIRE(t.is_asked());
  t.answer({});
  REQUIRE(machine::wait([&] { return t.parts->ended(); }));
  CHECK(t.parts->text() == "early\nlate\n");
  CHECK(t.parts->now().back().problem.empty());
}

TEST_CASE("a log is sent as far as the credit allows, and continued with more credit", "[link]") {
  telling t;
  constexpr auto size = 4 * actors::defaults::log_part_bytes;
  t.log->text = std::string(size, 'x');
  const auto streamer = t.start(false, 2);
  REQUIRE(machine::wait([&] { return t.parts->now().size() == 2; }));
  // Both parts were read and nothing is pending: the next answer would have had more.
  const auto before = t.handled(streamer);
  REQUIRE(streamer.tell(actors::more_log{1, 0}));
  REQUIRE(streamer.tell(actors::more_log{1, 0}));
  REQUIRE(machine::wait([&] { return t.handled(streamer) > before + 1; }));
  CHECK(t.log->reads == 2);
  CHECK(t.parts->now().size() == 2);
  REQUIRE(streamer.tell(actors::more_log{1, 100}));
  REQUIRE(machine::wait([&] { return t.parts->ended(); }));
  CHECK(t.parts->text().size() == size);
}

TEST_CASE("a log that is not there is not an empty one", "[link]") {
  telling t;
  t.log->missing = true;
  t.start(true, 1);
  REQUIRE(machine::wait([&] { return t.parts->ended(); }));
  CHECK_FALSE(t.parts->now().back().problem.empty());
}

}  // namespace troupe::test
