#include <catch2/catch.hpp>

#include "runtime_support.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;

namespace {

struct from_two {
  int sender = 0;
  int value = 0;
};

class collector : public actor {
 public:
  explicit collector(log_of<from_two>* seen, std::size_t expected)
      : seen_{seen}, expected_{expected} {}

 private:
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&collector::on_value);
    return table;
  }
  void on_value(const from_two& m) { seen_->add(m); }

  log_of<from_two>* seen_;
  std::size_t expected_;
};

}  // namespace

TEST_CASE("messages of one sender are handled in the order in which they were sent", "[runtime]") {
  log_of<from_two> seen;
  system company;
  const auto to = company.spawn({"collector", "c"}, make<collector>(&seen, std::size_t{20'000}));
  const auto send_all = [&](int who) {
    for (int i = 0; i < 10'000; ++i)
      REQUIRE(to.tell(from_two{who, i}));
  };
  std::thread other{send_all, 1};
  send_all(0);
  other.join();
  REQUIRE(seen.await(20'000));
  int next[2] = {0, 0};
  bool in_order = true;
  for (const auto& m : seen.all())
    in_order = in_order && m.value == next[m.sender]++;
  CHECK(in_order);
}

}  // namespace troupe::runtime
