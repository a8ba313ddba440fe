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

struct diary {
  int lives = 0;
  std::vector<duration> fired;  // after the start of the second incarnation
};

// Two timers are due at the same moment. In the first incarnation the first one throws while the
// second waits in the mailbox.
class cat : public actor {
 public:
  explicit cat(std::shared_ptr<diary> log) : log_{std::move(log)} {}

  const behavior& make_behavior() const override {
    static const behavior table = handlers();
    return table;
  }

  void started() override {
    const bool first = ++log_->lives == 1;
    const auto begin = now();
    one_ = after(10s, [first] {
      if (first) throw std::runtime_error{"the first life ends"};
    });
    two_ = every(10s, [this, begin] { log_->fired.push_back(now() - begin); });
  }

 private:
  std::shared_ptr<diary> log_;
  timer one_, two_;
};

}  // namespace

TEST_CASE("a deadline of a crashed incarnation does not fire in the next", "[runtime]") {
  simulation all{1};
  const auto log = std::make_shared<diary>();
  all.system().spawn({.kind = "cat", .name = "cat"}, make<cat>(log));
  all.advance(15s);
  CHECK(log->lives == 2);
  CHECK(log->fired.empty());
  all.advance(20s);
  CHECK(log->fired == std::vector<duration>{10s, 20s});
}

}  // namespace troupe::runtime
