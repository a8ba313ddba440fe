#include "runtime/unique_function.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

using troupe::runtime::unique_function;

TEST_CASE("a function object may own move-only values", "[runtime]") {
  unique_function<int(int)> add = [base = std::make_unique<int>(40)](int x) { return *base + x; };
  auto moved = std::move(add);
  CHECK_FALSE(add);
  REQUIRE(moved);
  CHECK(moved(2) == 42);
}

TEST_CASE("a large closure is kept and destroyed once", "[runtime]") {
  auto watched = std::make_shared<int>(7);
  struct large {
    std::shared_ptr<int> value;
    char room[200];
  };
  {
    unique_function<int()> read = [big = large{watched, {}}] { return *big.value; };
    unique_function<int()> other = [] { return 0; };
    other = std::move(read);
    CHECK(other() == 7);
    CHECK(watched.use_count() == 2);
  }
  CHECK(watched.use_count() == 1);
}

TEST_CASE("arguments are passed on as they were given", "[runtime]") {
  unique_function<std::size_t(const std::string&, std::unique_ptr<int>)> both =
      [](const std::string& text, std::unique_ptr<int> number) {
        return text.size() + static_cast<std::size_t>(*number);
      };
  CHECK(both("four", std::make_unique<int>(3)) == 7);
}
