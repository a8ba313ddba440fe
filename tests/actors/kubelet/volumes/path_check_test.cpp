// Paths whose file system does not answer, as of an NFS server that is down: here a check that
// waits.
#include "actors/kubelet/os/path_check.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <string>

#include "actors/kubelet/machine.hpp"

namespace troupe::test {

using actors::check_in_time;
using namespace std::chrono_literals;

namespace {

using result = tl::expected<void, std::string>;

result answer() {
  return {};
}

// Checks that wait until all may end.
struct hung_server {
  std::promise<void> up;
  std::shared_future<void> wait = up.get_future().share();

  auto check() const {
    return [awaited = wait]() -> result {
      awaited.wait();
      return {};
    };
  }
  bool answers_for(const std::string& path) {
    return machine::wait([&] { return check_in_time(path, &answer).has_value(); });
  }
};

}  // namespace

TEST_CASE("a path that does not answer is given up, and checked again when it has answered",
          "[kubelet]") {
  hung_server server;
  const auto late = check_in_time("/hung", server.check(), 20ms);
  REQUIRE_FALSE(late);
  CHECK(late.error() == "the file system of /hung did not answer within 20 ms");
  const auto again = check_in_time("/hung", &answer);
  REQUIRE_FALSE(again);
  CHECK(again.error() == "the file system of /hung has not answered an earlier check yet");
  CHECK(check_in_time("/well", &answer));
  const auto missing = check_in_time(
      "/well", []() -> result { return tl::make_unexpected(std::string{"it is no directory"}); });
  CHECK(missing.error() == "it is no directory");
  server.up.set_value();
  CHECK(server.answers_for("/hung"));
}

TEST_CASE("paths that do not answer keep a limited number of threads", "[kubelet]") {
  hung_server server;
  for (std::size_t i = 0; i < actors::kubelet_defaults::late_path_checks; ++i)
    CHECK_FALSE(check_in_time("/hung/" + std::to_string(i), server.check(), 1ms));
  const auto next = check_in_time("/next", &answer);
  REQUIRE_FALSE(next);
  CHECK(next.error() == "/next is not checked: the file systems of 64 other paths do not answer");
  server.up.set_value();
  CHECK(server.answers_for("/next"));
}

TEST_CASE("a missing path is an answer", "[kubelet]") {
  CHECK(actors::check_answers("/none/such"));
}

}  // namespace troupe::test
