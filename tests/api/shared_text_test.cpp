#include "api/object/shared_text.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

namespace troupe::api {

TEST_CASE("a text lives as long as a handle of it") {
  shared_text a{"abc"};
  CHECK(*a == "abc");
  CHECK(a.use_count() == 1);
  auto b = a;
  CHECK(b == a);
  CHECK(a.use_count() == 2);
  a.reset();
  CHECK_FALSE(a);
  CHECK(*b == "abc");
  CHECK(b.use_count() == 1);
  CHECK(*shared_text{""} == "");
  CHECK(shared_text{"x"} != shared_text{"x"});
}

TEST_CASE("a cell gives the text that came first, until it is emptied") {
  text_cell cell;
  CHECK_FALSE(cell.get());
  CHECK_FALSE(cell.take());
  const auto first = cell.keep(shared_text{"first"});
  CHECK(*cell.keep(shared_text{"second"}) == "first");
  CHECK(cell.get() == first);
  CHECK(cell.take() == first);
  CHECK_FALSE(cell.get());
  CHECK(first.use_count() == 1);
  CHECK(*cell.keep(shared_text{"third"}) == "third");
}

TEST_CASE("handles are counted beyond the counter beside the address") {
  text_cell cell;
  cell.keep(shared_text{"many"});
  std::vector<shared_text> held;
  for (int i = 0; i < 200'000; ++i) {
    auto text = cell.get();
    if (i % 4 == 0) held.push_back(std::move(text));
  }
  const auto last = cell.take();
  CHECK(last.use_count() == 50'001);
  held.clear();
  CHECK(last.use_count() == 1);
  CHECK(*last == "many");
}

// Each text is one letter repeated: a block that was freed too early has another one, and the
// sanitizers detect it, or a block that was never freed.
TEST_CASE("threads take, keep and drop texts while others empty and fill the cell") {
  constexpr int rounds = 20'000;
  text_cell cell;
  std::atomic<int> broken{0}, left{4};
  const auto take = [&](std::size_t hold) {
    std::vector<shared_text> held(hold);
    for (int i = 0; i < rounds; ++i) {
      auto text = cell.get();
      if (!text) text = cell.keep(shared_text{std::string(100 + i % 50, char('a' + i % 26))});
      const auto view = *text;
      if (std::count(view.begin(), view.end(), view[0]) != std::ptrdiff_t(view.size())) ++broken;
      held[static_cast<std::size_t>(i) % hold] = std::move(text);
    }
    --left;
  };
  std::vector<std::thread> threads;
  for (const std::size_t hold : {1, 2, 100, 1'000})
    threads.emplace_back(take, hold);
  threads.emplace_back([&] {
    while (left > 0)
      cell.take();
  });
  for (auto& each : threads)
    each.join();
  CHECK(broken == 0);
  const auto last = cell.keep(shared_text{"z"});
  cell.take();
  CHECK(last.use_count() == 1);
}

}  // namespace troupe::api
