// The check for rules of IPv6, and the end of nft, with scripts in its place.
#include "actors/network/services/nft_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>

#include "actors/kubelet/os/child_process.hpp"
#include "runtime/unique_fd.hpp"
#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using actors::services::missing_for_ipv6;
using actors::services::run_nft;

namespace {

// Reads a script as nft does, and ends with this command.
std::vector<std::string> fake_nft(const std::string& end) {
  return {"/bin/sh", "-c", "read script; " + end, "nft"};
}

// Starts another process in the process namespace that a thread creates for its children, as soon
// as its first child is there. 0: failed.
pid_t start_in_namespace_of(pid_t thread) {
  const auto path = "/proc/self/task/" + std::to_string(thread) + "/ns/pid_for_children";
  runtime::unique_fd found;
  const bool opened = eventually([&] {
    found = runtime::unique_fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    return static_cast<bool>(found);
  });
  if (!opened || ::setns(found.get(), CLONE_NEWPID) != 0) return 0;
  return actors::spawn_program({"/bin/sleep", "300"}, {}).value_or(0);
}

}  // namespace

TEST_CASE("rules for IPv6 are left out if the kernel has no IPv6 or nft is refused", "[services]") {
  const scratch_folder folder;
  const auto absent = (folder.path() / "if_inet6").string();
  const std::string present = "/proc/self/status";
  CHECK(missing_for_ipv6(fake_nft("true"), absent) == "the kernel has no IPv6");
  CHECK(missing_for_ipv6(fake_nft("true"), present).empty());
  CHECK(missing_for_ipv6(fake_nft("echo 'Error: Operation not supported'; exit 1"), present) ==
        "nft: Error: Operation not supported");
  INFO("nft only checks a script that adds the table");
  CHECK(missing_for_ipv6(
            fake_nft(R"([ "$*" = "--check -f -" ] && [ "$script" = "add table ip6 troupe" ])"),
            present)
            .empty());
}

TEST_CASE("nft that was killed and does not end is left alone, and not started again meanwhile",
          "[services]") {
  // The first process of a process namespace ends only when the parents of the others have waited
  // for them.
  std::promise<pid_t> runner;
  auto first = std::async(std::launch::async, [&]() -> tl::expected<void, std::string> {
    const bool created = ::unshare(CLONE_NEWPID) == 0;
    runner.set_value(created ? ::gettid() : 0);
    if (!created) return {};
    return run_nft({"/bin/sh", "-c", "exec sleep 300"}, {}, 4s);
  });
  const auto thread = runner.get_future().get();
  if (thread == 0) return skip("this user may not create process namespaces");
  const auto other =
      std::async(std::launch::async, [&] { return start_in_namespace_of(thread); }).get();
  REQUIRE(other > 0);

  const auto returned = first.wait_for(60s);
  const auto run = [] { return run_nft(fake_nft("true"), "script\n", 10s); };
  const auto refused = run();
  CHECK(::waitpid(other, nullptr, 0) == other);
  CHECK(returned == std::future_status::ready);
  const auto killed = first.get();
  REQUIRE_FALSE(killed);
  CHECK(killed.error() == "nft took longer than 4000 ms");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == "nft: an earlier process that was killed has not ended");
  CHECK(eventually([&] { return run().has_value(); }));
}

}  // namespace troupe::test
