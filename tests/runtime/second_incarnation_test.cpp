// Messages that were pending when an actor crashed must not reach its next incarnation.
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

#include "runtime/actor.hpp"
#include "runtime/simulation.hpp"

namespace troupe::runtime {

namespace {

using namespace std::chrono_literals;

struct incarnation_log {
  int incarnations = 0;
  std::vector<duration> fired;  // after the start of the second incarnation
};

// Two timers are due at the same moment. In the first incarnation the first one throws while the
// second waits in the mailbox.
class crashing_actor : public actor {
 public:
  explicit crashing_actor(std::shared_ptr<incarnation_log> log) : log_{std::move(log)} {}

  const behavior& make_behavior() const override {
    static const behavior table = handlers();
    return table;
  }

  void started() override {
    const bool first = ++log_->incarnations == 1;
    const auto begin = now();
    one_ = after(10s, [first] {
      if (first) throw std::runtime_error{"the first incarnation ends"};
    });
    two_ = every(10s, [this, begin] { log_->fired.push_back(now() - begin); });
  }

 private:
  std::shared_ptr<incarnation_log> log_;
  timer one_, two_;
};

}  // namespace

TEST_CASE("a deadline of a crashed incarnation does not fire in the next", "[runtime]") {
  simulation all{1};
  const auto log = std::make_shared<incarnation_log>();
  all.system().spawn({.kind = "crashing", .name = "one"}, make<crashing_actor>(log));
  all.advance(15s);
  CHECK(log->incarnations == 2);
  CHECK(log->fired.empty());
  all.advance(20s);
  CHECK(log->fired == std::vector<duration>{10s, 20s});
}

}  // namespace troupe::runtime
