// The rotation of logs that the runtime writes, with a runtime that is slow.
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>

#include "actors/kubelet/cri/cri_server.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/runtimes/cri/container_watcher.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

using namespace actors;

namespace {

constexpr const char* container = "c1";

// One running container, and one thread for jobs.
struct watched_container {
  scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  std::shared_ptr<event_loop> loop = std::make_shared<event_loop>();
  std::shared_ptr<cri_client> client = std::make_shared<cri_client>(loop, server.socket());
  std::optional<container_watcher> watcher;
  job_queue jobs{"cri", 1, 100};

  watched_container() {
    server.log_at((folder.path() / "0.log").string());
    watcher.emplace(loop, client, jobs, log_limits{.file_bytes = 10});
    REQUIRE(wait_for<cri::ContainerId>(*client, "CreateContainer", cri::CreateContainerRequest{}));
    cri::ContainerId id;
    id.set_container_id(container);
    REQUIRE(wait_for<cri::Nothing>(*client, "StartContainer", id));
    const auto runs = std::make_shared<std::promise<void>>();
    loop->defer([this, runs] {
      watcher->follow_container(container, [runs](const auto&) { runs->set_value(); });
    });
    await(*runs);
  }
  ~watched_container() { loop->stop(); }

  static void await(std::promise<void>& done) {
    REQUIRE(done.get_future().wait_for(std::chrono::minutes{1}) == std::future_status::ready);
  }
  void write_much() { folder.write("0.log", "more than ten bytes"); }
  void rotate() {
    const auto begun = std::make_shared<std::promise<void>>();
    loop->defer([this, begun] {
      watcher->rotate_logs();
      begun->set_value();
    });
    await(*begun);
  }
  // Whether the server has received the calls of the jobs so far.
  bool await_jobs() {
    const auto call = [this] {
      static_cast<void>(wait_for<cri::VersionResponse>(*client, "Version", cri::VersionRequest{}));
    };
    return jobs.post(call) && server.await_call("Version");
  }
  std::size_t rotations() { return server.calls("ReopenContainerLog"); }
};

}  // namespace

TEST_CASE("a log is not rotated again before its rotation has ended", "[kubelet]") {
  watched_container t;
  t.write_much();
  t.server.hold("ReopenContainerLog");
  t.rotate();
  REQUIRE(t.server.await_call("ReopenContainerLog"));
  t.rotate();
  REQUIRE(t.await_jobs());
  CHECK(t.rotations() == 1);
  t.server.answer_held();
  t.write_much();
  CHECK(machine::wait([&] {
    t.rotate();
    return t.rotations() > 1;
  }));
}

}  // namespace troupe::test
