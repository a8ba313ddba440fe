// What is read of a log on a joined machine: as far as the credit goes, and to the very end.
#include "actors/link/log_streamer.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <future>
#include <mutex>
#include <vector>

#include "actors/defaults.hpp"
#include "actors/kubelet/machine.hpp"
#include "runtime/actor_system.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

// In the place of the gateway.
class part_keeper : public runtime::actor {
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

  explicit part_keeper(std::shared_ptr<parts> into) : into_{std::move(into)} {}
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&part_keeper::on_part);
    return table;
  }

 private:
  void on_part(const actors::log_part& m) {
    const std::lock_guard lock{into_->mutex};
    into_->all.push_back(m);
  }
  const std::shared_ptr<parts> into_;
};

struct telling {
  runtime::actor_ref start(bool follow, std::uint32_t credit) {
    const actors::log_request request{
        .id = 1, .file = file.string(), .query = {}, .follow = follow, .credit = credit};
    return system.spawn({.kind = "log", .name = "1", .restart = false},
                        runtime::make<actors::log_streamer>(request, disk, keeper));
  }
  void write(const std::string& text, int times = 1) const {
    std::ofstream out{file, std::ios::app};
    for (int i = 0; i < times; ++i)
      out << "2026-01-02T03:04:05.000000006Z stdout F " << text << '\n';
  }
  std::uint64_t mailbox_size(const runtime::actor_ref& receiver) const {
    const auto found = system.actors().find(receiver.id());
    return found ? found->mailbox : 0;
  }

  scratch_folder folder;
  const std::filesystem::path file = folder.path() / "log";
  const std::shared_ptr<part_keeper::parts> parts = std::make_shared<part_keeper::parts>();
  const std::shared_ptr<runtime::worker_pool> disk =
      std::make_shared<runtime::worker_pool>("logs", 1, 100);
  runtime::actor_system system;
  const runtime::actor_ref keeper =
      system.spawn({.kind = "test", .name = "keeper"}, runtime::make<part_keeper>(parts));
};

}  // namespace

TEST_CASE("a log that ends while it is read is read once more", "[link]") {
  telling t;
  t.write("early");
  // The disk is slow: the reading waits behind this.
  std::promise<void> slow;
  REQUIRE(t.disk->post([gone = slow.get_future().share()] { gone.wait(); }));
  const auto streamer = t.start(true, 10);
  REQUIRE(machine::wait([&] { return t.disk->queued() == 1; }));
  slow.set_value();
  REQUIRE(machine::wait([&] { return t.parts->text() == "early\n"; }));

  // It has read to the end and looks again now and then: hold one of these looks.
  std::promise<void> slower;
  REQUIRE(t.disk->post([gone = slower.get_future().share()] { gone.wait(); }));
  REQUIRE(machine::wait([&] { return t.disk->queued() == 1; }));
  REQUIRE(t.system.pause(streamer, 20s));
  REQUIRE(streamer.tell(actors::finish_log{1}));
  slower.set_value();
  REQUIRE(machine::wait([&] { return t.mailbox_size(streamer) == 2; }));
  // What the container wrote last came after that look, and before its end was told.
  t.write("late");
  REQUIRE(t.system.resume(streamer));
  REQUIRE(machine::wait([&] { return t.parts->ended(); }));
  CHECK(t.parts->text() == "early\nlate\n");
  CHECK(t.parts->now().back().problem.empty());
}

TEST_CASE("a log is told as far as the credit goes, and on when there is more", "[link]") {
  telling t;
  const auto lines = static_cast<int>(4 * actors::defaults::log_part_bytes / 1'000);
  t.write(std::string(999, 'x'), lines);
  const auto streamer = t.start(false, 2);
  REQUIRE(machine::wait([&] { return t.parts->now().size() == 2; }));
  const auto handled = [&] { return t.system.actors().find(streamer.id())->handled; };
  // Both parts are read and nothing is under way: more would have come by the next answer.
  const auto before = handled();
  REQUIRE(streamer.tell(actors::more_log{1, 0}));
  REQUIRE(machine::wait([&] { return handled() > before && t.mailbox_size(streamer) == 0; }));
  CHECK(t.disk->queued() == 0);
  CHECK(t.parts->now().size() == 2);
  REQUIRE(streamer.tell(actors::more_log{1, 100}));
  REQUIRE(machine::wait([&] { return t.parts->ended(); }));
  CHECK(t.parts->text().size() == static_cast<std::size_t>(lines) * 1'000);
}

TEST_CASE("a log that is not there is not an empty one", "[link]") {
  telling t;
  t.start(true, 1);
  REQUIRE(machine::wait([&] { return t.parts->ended(); }));
  CHECK_FALSE(t.parts->now().back().problem.empty());
}

}  // namespace troupe::test
