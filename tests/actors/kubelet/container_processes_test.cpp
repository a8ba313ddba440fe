// Containers as real processes under real shims.
#include "actors/kubelet/runtimes/process/container_processes.hpp"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/logs/log_rate_limit.hpp"
#include "actors/no_descriptors.hpp"
#include "build_paths.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

namespace {

constexpr auto shim_patience = 60s;

// Notifications of a container's observer, to wait for.
class listener {
 public:
  container_observer observer() {
    return [this](const container_change& change) {
      const std::lock_guard guard{mutex_};
      if (const auto* running = std::get_if<container_running>(&change)) running_ = *running;
      if (const auto* exit = std::get_if<container_exit>(&change)) exit_ = *exit;
      heard_.notify_all();
    };
  }
  std::optional<container_running> running() {
    std::unique_lock guard{mutex_};
    heard_.wait_for(guard, shim_patience, [this] { return running_ || exit_; });
    return running_;
  }
  std::optional<container_exit> exit() {
    std::unique_lock guard{mutex_};
    heard_.wait_for(guard, shim_patience, [this] { return exit_.has_value(); });
    return exit_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable heard_;
  std::optional<container_running> running_;
  std::optional<container_exit> exit_;
};

struct scratch {
  std::filesystem::path path;
  scratch() {
    std::string name = "/tmp/troupe-kubelet-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  ~scratch() { std::filesystem::remove_all(path); }
};

const std::string shim = std::string{TROUPE_BINARY_DIR} + "/container_shim";

// With its own threads.
struct test_containers : container_processes {
  test_containers() : test_containers{std::make_shared<job_queue>("containers", 2, 10'000)} {}
  explicit test_containers(const std::shared_ptr<job_queue>& jobs)
      : container_processes{shim, jobs, std::make_shared<event_loop>()}, jobs{jobs} {}
  const std::shared_ptr<job_queue> jobs;
};

container_spec shell(const scratch& place, const std::string& script) {
  return {.command = {"/bin/sh", "-c", script},
          .environment = {"PATH=/bin:/usr/bin", "GREETING=hello"},
          .log_file = place.path / "log"};
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

// Waits for the end of a process; returns false if it is still there after a minute.
bool gone(const process_id& process) {
  const auto deadline = std::chrono::steady_clock::now() + shim_patience;
  while (process.alive() && std::chrono::steady_clock::now() < deadline)
    ::sched_yield();
  return !process.alive();
}

// Waits for a text in the container's output; returns false after a minute.
bool said(const scratch& place, const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + shim_patience;
  while (text_of(place.path / "log").find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::sched_yield();
  }
  return true;
}

}  // namespace

TEST_CASE("a container has the specified environment, and its output and exit code are recorded",
          "[kubelet]") {
  scratch place;
  listener heard;
  test_containers runtime;
  runtime.start(container_dir{place.path / "c"},
                shell(place, "echo $GREETING; echo oops >&2; printf unfinished; exit 3"),
                heard.observer());
  const auto exit = heard.exit();
  REQUIRE(exit);
  CHECK(exit->code == 3);
  CHECK(exit->finished_ms >= exit->started_ms);
  const auto log = text_of(place.path / "log");
  CHECK_THAT(log, Catch::Contains(" stdout F hello\n") && Catch::Contains(" stderr F oops\n") &&
                      Catch::Contains(" stdout F unfinished\n"));
}

TEST_CASE("a container that floods the log is throttled, and the log stays within its limit",
          "[kubelet]") {
  log_rate_limit budget{1000};
  CHECK(budget.wait_ms(5'000) == 0);
  budget.take(1'500);
  CHECK(budget.wait_ms(5'000) == 501);
  CHECK(budget.wait_ms(5'400) == 101);
  CHECK(budget.wait_ms(5'501) == 0);
  CHECK(budget.wait_ms(9'999'999) == 0);
  budget.take(1'000);
  CHECK(budget.wait_ms(9'999'999) == 1);
  scratch place;
  listener heard;
  test_containers runtime;
  runtime.start(container_dir{place.path / "c"},
                shell(place, "head -c 700000 /dev/zero | tr '\\0' '\\n'; echo last"),
                heard.observer());
  const auto exit = heard.exit();
  REQUIRE(exit);
  CHECK(exit->finished_ms - exit->started_ms > 1'000);
  CHECK(text_of(place.path / "log").find(" last\n") != std::string::npos);
  std::uintmax_t bytes = 0;
  for (const auto& each : std::filesystem::directory_iterator{place.path})
    if (each.is_regular_file()) bytes += each.file_size();
  CHECK(bytes < (kubelet_defaults::log_files + 1) * kubelet_defaults::log_file_bytes);
}

TEST_CASE("a container's log has the size and number of files that its spec names", "[kubelet]") {
  scratch place;
  listener heard;
  test_containers runtime;
  auto spec = shell(place, "for i in 1 2 3 4 5 6 7 8 9; do echo $i; done");
  spec.log = {.file_bytes = 50, .files = 3};
  runtime.start(container_dir{place.path / "c"}, spec, heard.observer());
  REQUIRE(heard.exit());
  // Two lines of 42 bytes fill a file.
  CHECK(text_of(place.path / "log").ends_with(" stdout F 9\n"));
  CHECK(text_of(place.path / "log.2").ends_with(" stdout F 6\n"));
  CHECK_FALSE(std::filesystem::exists(place.path / "log.3"));
}

TEST_CASE("a missing program is an error that names it", "[kubelet]") {
  scratch place;
  listener heard;
  test_containers runtime;
  auto spec = shell(place, "");
  spec.command = {"/no/such/program"};
  runtime.start(container_dir{place.path / "c"}, spec, heard.observer());
  const auto exit = heard.exit();
  REQUIRE(exit);
  CHECK(exit->code == 127);
  CHECK_THAT(exit->error, Catch::Contains("/no/such/program"));
}

TEST_CASE("SIGTERM ends a container, and all that it started goes with it", "[kubelet]") {
  scratch place;
  listener heard;
  test_containers runtime;
  const container_dir dir{place.path / "c"};
  runtime.start(dir, shell(place, "sleep 300 & sleep 301 & echo armed; wait"), heard.observer());
  const auto running = heard.running();
  REQUIRE(running);
  REQUIRE(said(place, "armed"));
  runtime.stop(dir, false);
  const auto exit = heard.exit();
  REQUIRE(exit);
  CHECK(exit->signal == SIGTERM);
  CHECK(exit->code == 128 + SIGTERM);
  CHECK(gone(dir.running()->shim));
}

TEST_CASE("a container that ignores SIGTERM is killed", "[kubelet]") {
  scratch place;
  listener heard;
  test_containers runtime;
  const container_dir dir{place.path / "c"};
  runtime.start(dir, shell(place, "trap '' TERM; echo armed; while :; do sleep 1; done"),
                heard.observer());
  REQUIRE(heard.running());
  REQUIRE(said(place, "armed"));  // the trap is set
  runtime.stop(dir, false);
  runtime.stop(dir, true);
  const auto exit = heard.exit();
  REQUIRE(exit);
  CHECK(exit->signal == SIGKILL);
}

TEST_CASE("containers of a runtime that ended are adopted by the next one", "[kubelet]") {
  scratch place;
  const container_dir dir{place.path / "pod" / "containers" / "web" / "2"};
  process_id process;
  {
    listener heard;
    test_containers first;
    first.start(dir, shell(place, "sleep 300"), heard.observer());
    const auto running = heard.running();
    REQUIRE(running);
    process = dir.running()->process;
  }
  CHECK(process.alive());

  test_containers second;
  std::mutex mutex;
  std::condition_variable done;
  std::optional<std::vector<container_processes::found>> found;
  second.survey(place.path / "pod", [&](std::vector<container_processes::found> all) {
    const std::lock_guard guard{mutex};
    found = std::move(all);
    done.notify_all();
  });
  std::unique_lock guard{mutex};
  REQUIRE(done.wait_for(guard, shim_patience, [&] { return found.has_value(); }));
  REQUIRE(found->size() == 1);
  CHECK(found->front().container == "web");
  CHECK(found->front().attempt == 2);

  listener heard;
  second.follow(found->front().dir, {}, heard.observer());
  const auto running = heard.running();
  REQUIRE(running);
  CHECK(dir.running()->process.pid == process.pid);
  second.stop(dir, true);
  REQUIRE(heard.exit());
  CHECK(gone(process));
}

TEST_CASE("a container that cannot be inspected for lack of file descriptors has not ended",
          "[kubelet]") {
  if (!test::can_take_all_descriptors()) return;
  scratch place;
  const container_dir dir{place.path / "pod" / "containers" / "web" / "0"};
  {
    listener heard;
    test_containers first;
    first.start(dir, shell(place, "sleep 300"), heard.observer());
    REQUIRE(heard.running());
  }
  test_containers second;
  listener heard;
  std::promise<std::size_t> found;
  std::promise<void> next;
  {
    const test::no_descriptors none;
    second.survey(place.path / "pod", [&](const auto& all) { found.set_value(all.size()); });
    second.follow(dir, {}, heard.observer());
    // The earlier request was tried.
    REQUIRE(second.jobs->post("pod", [&] { next.set_value(); }));
    next.get_future().wait();
  }
  CHECK(found.get_future().get() == 1);
  const auto running = heard.running();
  REQUIRE(running);
  CHECK(dir.running()->process.alive());
  second.stop(dir, true);
  CHECK(heard.exit());
}

TEST_CASE("requests for a pod are done in order, concurrently with those for other pods",
          "[kubelet]") {
  scratch place;
  test_containers runtime;
  std::promise<void> open, other;
  std::shared_future<void> gate{open.get_future()};
  std::promise<int> order;
  std::atomic<int> done{0};
  REQUIRE(runtime.jobs->post("a", [&] {
    gate.wait();
    ++done;
  }));
  runtime.survey(place.path / "a", [&](const auto&) { order.set_value(++done); });
  runtime.survey(place.path / "b", [&](const auto&) { other.set_value(); });
  // There are two threads: the second one takes no job of the first pod.
  other.get_future().wait();
  CHECK(done == 0);
  open.set_value();
  CHECK(order.get_future().get() == 2);
}

TEST_CASE("an observer of a starting container waits for its shim", "[kubelet]") {
  scratch place;
  // A shim that starts only on a signal of the test.
  const auto gate = (place.path / "gate").string(), slow = (place.path / "slow").string();
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  std::ofstream{slow} << "#!/bin/sh\nread go < " << gate << "\nexec " << shim << " \"$@\"\n";
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  const container_dir dir{place.path / "pod" / "containers" / "web" / "0"};
  listener first, second;
  const auto jobs = std::make_shared<job_queue>("containers", 2, 100);
  container_processes runtime{slow, jobs, std::make_shared<event_loop>()};
  runtime.start(dir, shell(place, "exec sleep 300"), first.observer());
  runtime.follow(dir, {}, second.observer());
  std::promise<void> looked;
  REQUIRE(jobs->post("pod", [&] { looked.set_value(); }));
  looked.get_future().get();
  CHECK_FALSE(dir.exit());
  std::ofstream{gate} << "go\n";
  CHECK(first.running());
  CHECK(second.running());
  runtime.stop(dir, true);
  CHECK(first.exit());
  CHECK(second.exit());
}

TEST_CASE("a container does not outlive its shim", "[kubelet]") {
  scratch place;
  listener heard;
  test_containers runtime;
  const container_dir dir{place.path / "c"};
  runtime.start(dir, shell(place, "sleep 300"), heard.observer());
  const auto running = heard.running();
  REQUIRE(running);
  ::kill(dir.running()->shim.pid, SIGKILL);
  const auto exit = heard.exit();
  REQUIRE(exit);
  CHECK(exit->code == 137);
  CHECK(exit->lost);
  CHECK(exit->started_ms == running->since_ms);
  CHECK(exit->finished_ms >= exit->started_ms);
  CHECK(gone(dir.running()->process));
  // The next node reads the same.
  const auto written = container_dir{place.path / "c"}.exit();
  REQUIRE(written);
  CHECK(written->lost);
  CHECK(written->finished_ms == exit->finished_ms);
  CHECK(written->error == exit->error);
}

TEST_CASE("a container whose shim ended unobserved is found to have ended", "[kubelet]") {
  scratch place;
  const container_dir dir{place.path / "c"};
  const auto before = wall_ms();
  REQUIRE(dir.write(shell(place, "")));
  std::int64_t started = 0;
  SECTION("before it began") {}
  SECTION("after it began") {
    started = before - 1'000;
    REQUIRE(dir.write(running_process{{1, 1}, {1, 1}, started}));
  }
  listener heard;
  test_containers runtime;
  runtime.follow(dir, {}, heard.observer());
  const auto exit = heard.exit();
  REQUIRE(exit);
  CHECK(exit->lost);
  CHECK(exit->finished_ms >= before);
  CHECK(exit->started_ms == (started != 0 ? started : exit->finished_ms));
}

TEST_CASE("after a reboot a container has ended, and the process with its pid is not touched",
          "[kubelet]") {
  scratch place;
  const container_dir dir{place.path / "other"}, before{place.path / "c"};
  test_containers runtime;
  listener heard;
  runtime.start(dir, shell(place, "exec sleep 300"), heard.observer());
  const auto running = heard.running();
  REQUIRE(running);
  auto spec = shell(place, "");
  spec.boot_id = "first";
  REQUIRE(before.write(spec));
  const auto process = dir.running();
  REQUIRE(process);
  REQUIRE(before.write(*process));
  listener after;
  runtime.follow(before, "second", after.observer());
  const auto exit = after.exit();
  REQUIRE(exit);
  CHECK(exit->lost);
  CHECK(exit->started_ms == running->since_ms);
  CHECK(process->process.alive());
  runtime.stop(dir, true);
  CHECK(heard.exit());
  CHECK(gone(process->process));
}

TEST_CASE("a container's spec of an earlier version is read without an image and a boot id",
          "[kubelet]") {
  scratch place;
  const container_dir dir{place.path / "c"};
  auto spec = shell(place, "exit 3");
  spec.image = "nginx:1";
  spec.boot_id = "second";
  REQUIRE(dir.write(spec));
  CHECK(dir.spec()->image == "nginx:1");
  CHECK(dir.spec()->boot_id == "second");
  auto earlier = text_of(dir.path() / "spec");
  std::ofstream{dir.path() / "spec"} << earlier.substr(0, earlier.rfind("7:nginx:1"));
  const auto read = dir.spec();
  REQUIRE(read);
  CHECK(read->command == spec.command);
  CHECK(read->image.empty());
  CHECK(read->boot_id.empty());
}

TEST_CASE("a container that cannot be started has start and finish times", "[kubelet]") {
  scratch place;
  listener heard;
  test_containers runtime;
  std::ofstream{place.path / "file"} << "no folder";
  const auto before = wall_ms();
  runtime.start(container_dir{place.path / "file" / "c"}, shell(place, ""), heard.observer());
  const auto exit = heard.exit();
  REQUIRE(exit);
  CHECK_FALSE(exit->lost);
  CHECK_FALSE(exit->error.empty());
  CHECK(exit->started_ms >= before);
  CHECK(exit->finished_ms == exit->started_ms);
}

TEST_CASE("a pid that was given to another process is not mistaken for a container", "[kubelet]") {
  auto self = identify(::getpid());
  REQUIRE(self);
  CHECK(self->alive());
  ++self->started;
  CHECK_FALSE(self->alive());
  CHECK_FALSE(self->signal(0, false));
}

}  // namespace troupe::actors
