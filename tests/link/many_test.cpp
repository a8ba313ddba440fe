// Two hundred nodes at one listener.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "link/machines.hpp"

namespace troupe::test {
namespace {

constexpr std::size_t nodes = 200;

std::size_t resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_CASE("two hundred nodes hold their sessions at one listener") {
  plane there;
  const node first{there.listener->address()};
  REQUIRE(there.sessions.await().session);
  const auto with = always(node_credentials());
  const auto before = resident_bytes();
  std::vector<std::unique_ptr<node>> all;
  const auto begun = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < nodes; ++i)
    all.push_back(std::make_unique<node>(there.listener->address(), with));
  REQUIRE(there.sessions.await(nodes).session);
  const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  for (auto& one : all)
    REQUIRE(one->sessions.await().session->send("here"));
  // On a busy machine an attempt may time out: its node has then called again.
  for (std::size_t i = 1, heard = 0; heard < nodes; ++i) {
    const auto at_plane = there.sessions.await(i);
    REQUIRE(at_plane.session);
    const auto& notes = *at_plane.notes;
    REQUIRE(eventually([&] { return notes.count() > 0 || !notes.ends().empty(); }));
    if (notes.count() == 0) continue;
    REQUIRE(at_plane.session->send("seen"));
    ++heard;
  }
  for (auto& one : all)
    REQUIRE(one->sessions.await().notes->await_frames(1));
  std::printf("link: %zu sessions in %.1f s, %zu KB for both ends of one\n", nodes, took,
              (resident_bytes() - before) / nodes / 1'024);
}

}  // namespace
}  // namespace troupe::test
