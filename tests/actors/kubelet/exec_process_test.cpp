// Commands in real containers, with their streams.
#include "actors/kubelet/runtimes/process/exec_process.hpp"

#include <poll.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <future>

#include "actors/kubelet/runtimes/process/container_processes.hpp"
#include "build_paths.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::actors {

namespace {

const std::string program = std::string{TROUPE_BINARY_DIR} + "/container_shim";

// A container that runs as long as a test.
struct sleeper {
  sleeper() {
    std::promise<void> runs;
    runtime.start(dir,
                  {.command = {"/bin/sh", "-c", "exec sleep 300"},
                   .environment = {"PATH=/bin:/usr/bin"},
                   .log_file = place.path() / "log"},
                  [&, told = false](const container_change&) mutable {
                    std::exchange(told, true) ? over.set_value() : runs.set_value();
                  });
    runs.get_future().get();
  }
  ~sleeper() {
    runtime.stop(dir, true);
    over.get_future().get();
  }
  exec_process exec(exec_request request) {
    auto stream = exec_process::start(program, dir, request);
    REQUIRE(stream);
    return std::move(*stream);
  }
  exec_process shell(const std::string& script, bool input = false, bool tty = false) {
    return exec({{"/bin/sh", "-c", script}, input, tty});
  }

  test::scratch_folder place;
  container_dir dir{place.path() / "c"};
  std::promise<void> over;
  container_processes runtime{program, std::make_shared<job_queue>("containers", 2, 100),
                              std::make_shared<event_loop>()};
};

// Reads until the output contains `end`, the stream ends, or a minute has passed.
std::string read_until(int fd, const std::string& end = "\n\n\n") {
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (text.find(end) == std::string::npos && std::chrono::steady_clock::now() < deadline) {
    pollfd waiting{fd, POLLIN, 0};
    ::poll(&waiting, 1, 1000);
    char part[4096];
    const auto n = ::read(fd, part, sizeof part);
    if (n == 0 || (n < 0 && errno != EAGAIN)) break;
    if (n > 0) text.append(part, static_cast<std::size_t>(n));
  }
  return text;
}

// Processes of this machine whose last argument ends with this text.
int processes_with(const std::string& end) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    std::ifstream file{entry.path() / "cmdline"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    count += text.size() > end.size() && text.ends_with(end) ? 1 : 0;
  }
  return count;
}

void say(int fd, const std::string& text) {
  CHECK(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

}  // namespace

TEST_CASE("a command has separate streams, and its exit code is reported", "[kubelet]") {
  sleeper container;
  auto stream = container.shell("echo out; echo err >&2; cat; exit 7");
  CHECK(read_until(stream.output()) == "out\n");
  CHECK(read_until(stream.error()) == "err\n");
  CHECK(stream.input() == -1);
  CHECK(stream.wait() == 7);
}

TEST_CASE("a command reads its input to the end", "[kubelet]") {
  sleeper container;
  auto stream = container.shell("cat; echo over", true);
  say(stream.input(), "hello\n");
  CHECK(read_until(stream.output(), "hello\n") == "hello\n");
  stream.close_input();
  CHECK(read_until(stream.output()) == "over\n");
  CHECK(stream.wait() == 0);
}

TEST_CASE("a command with a terminal knows its size and ends at end-of-file", "[kubelet]") {
  sleeper container;
  auto stream = container.shell("tty; read go; stty size; cat >/dev/null; exit 3", true, true);
  CHECK_THAT(read_until(stream.output(), "\n"), Catch::StartsWith("/dev/pts/"));
  CHECK(stream.resize(24, 100));
  say(stream.input(), "go\n");
  CHECK_THAT(read_until(stream.output(), "24 100"), Catch::Contains("24 100"));
  stream.close_input();
  CHECK(stream.wait() == 3);
  CHECK(stream.error() == -1);
}

TEST_CASE("a command ends with whoever asked for it", "[kubelet]") {
  sleeper container;
  const auto mark = container.place.path().filename().string();
  {
    // Only the shell: a process that it forks has its arguments for a moment, and ends by itself.
    auto stream = container.shell("echo begun; read go; echo " + mark, true);
    REQUIRE(read_until(stream.output(), "\n") == "begun\n");
    CHECK(processes_with(mark + std::string(1, '\0')) > 0);
  }
  // Where the machine is slow, the command is killed without being waited for.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  int left = 0;
  while ((left = processes_with(mark + std::string(1, '\0'))) > 0 &&
         std::chrono::steady_clock::now() < deadline) {
  }
  CHECK(left == 0);
}

TEST_CASE("a command in a container that does not run fails with a message", "[kubelet]") {
  const test::scratch_folder place;
  auto stream = exec_process::start(program, container_dir{place.path() / "none"}, {{"/bin/true"}});
  REQUIRE(stream);
  CHECK(read_until(stream->error()) == "the container does not run\n");
  CHECK(stream->wait() == 126);
}

}  // namespace troupe::actors
