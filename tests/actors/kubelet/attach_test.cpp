// Clients attached to real containers, by the process runtime.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <random>
#include <sstream>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/running_container.hpp"
#include "actors/kubelet/runtimes/process/streams/attach_client.hpp"
#include "actors/kubelet/runtimes/process/streams/attach_packets.hpp"
#include "actors/kubelet/runtimes/process/streams/defaults.hpp"
#include "actors/kubelet/security/process_identity.hpp"
#include "actors/kubelet/stream_talk.hpp"
#include "support/skip.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using actors::exec_part;
using stream = std::unique_ptr<actors::exec_stream>;

namespace {

actors::runtime_result<stream> try_attach(running_container& container, const std::string& id,
                                          bool input = false) {
  std::promise<actors::runtime_result<stream>> answer;
  container.containers->attach(id, {.command = {}, .input = input},
                               [&](auto attached) { answer.set_value(std::move(attached)); });
  return answer.get_future().get();
}

stream attach(running_container& container, bool input = false) {
  auto attached = try_attach(container, container.id, input);
  REQUIRE(attached);
  return std::move(*attached);
}

std::string some_bytes(std::size_t count) {
  std::mt19937 random{7};
  std::string bytes(count, '\0');
  for (auto& each : bytes)
    each = static_cast<char>(random());
  return bytes;
}

// The texts of a log, without times; partial lines are joined.
std::string texts_of(const std::filesystem::path& log) {
  std::ifstream in{log};
  std::string all;
  for (std::string line; std::getline(in, line);) {
    const auto tag = line.find(' ', line.find(' ') + 1) + 1;
    all += line.substr(tag + 2) + (line[tag] == 'F' ? "\n" : "");
  }
  return all;
}

// A client of a container's socket that may violate the protocol.
class stranger {
 public:
  explicit stranger(const running_container& container)
      : socket_{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)} {
    const runtime::unique_fd folder{
        ::open(container.dir().path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    const auto address = actors::attach_address(folder.get());
    REQUIRE(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
  }
  void say(const std::string& packet) const {
    static_cast<void>(::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL));
  }
  // Empty: the connection was closed.
  std::string hear() const {
    char text[100];
    pollfd waiting{socket_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 60'000) <= 0) return "silence";
    const auto n = ::recv(socket_.get(), text, sizeof text, 0);
    return {text, n > 0 ? static_cast<std::size_t>(n) : 0};
  }

 private:
  runtime::unique_fd socket_;
};

}  // namespace

TEST_CASE("bytes written to a container's stdin come back unchanged", "[kubelet]") {
  running_container container{"exec cat", "stdin: true"};
  const auto attached = attach(container, true);
  const auto sent = some_bytes(1 << 20);
  std::promise<bool> taken;
  attached->write(sent, [&](bool well) { taken.set_value(well); });
  whole all;
  while (all.output.size() < sent.size()) {
    const auto part = next(*attached);
    REQUIRE(part.from == exec_part::kind::output);
    all.output += part.bytes;
    all.largest = std::max(all.largest, part.bytes.size());
  }
  CHECK(taken.get_future().get());
  CHECK(all.output == sent);
  CHECK(all.largest <= actors::kubelet_defaults::exec_part_bytes);
}

TEST_CASE("input waits while the container does not read", "[kubelet]") {
  running_container container{"exec sleep 300", "stdin: true"};
  const auto attached = attach(container, true);
  std::promise<bool> taken;
  auto answer = taken.get_future();
  attached->write(std::string(4 << 20, 'x'), [&](bool well) { taken.set_value(well); });
  // Later requests are served all the same.
  CHECK(container.exec("echo still here").output == "still here\n");
  CHECK(answer.wait_for(0s) == std::future_status::timeout);
  attached->close_input();
  CHECK_FALSE(answer.get());
}

TEST_CASE("a container without stdin reads nothing, and takes no input", "[kubelet]") {
  running_container container{"cat; echo over; exec sleep 300"};
  const auto attached = attach(container, true);
  CHECK_FALSE(say(*attached, "hello\n"));
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (texts_of(container.log()).empty() && std::chrono::steady_clock::now() < deadline)
    ::sched_yield();
  CHECK(texts_of(container.log()) == "over\n");
}

TEST_CASE("a container's terminal has the size of the one attached, and its end-of-file",
          "[kubelet]") {
  running_container container{
      "stty -echo; test -t 2 && tty; read go; echo shell $$; stty size; cat; exit 3",
      "stdin: true, tty: true"};
  const auto attached = attach(container, true);
  attached->resize(24, 100);
  CHECK(say(*attached, "go\n"));
  const auto said = read_all(*attached, "24 100\r\n").output;
  REQUIRE_THAT(said, Catch::Contains("shell "));
  const auto shell = std::to_string(std::stoi(said.substr(said.find("shell ") + 6)));
  attached->resize(50, 132);
  CHECK_THAT(container.exec("stty size < /proc/" + shell + "/fd/0").output,
             Catch::Contains("50 132"));
  CHECK(say(*attached, "\4"));
  const auto all = read_all(*attached);
  CHECK(all.error.empty());
  CHECK(all.code == 3);
  CHECK_THAT(texts_of(container.log()), Catch::Contains("/dev/pts/"));
}

TEST_CASE("a terminal without stdin can be watched and resized", "[kubelet]") {
  running_container container{
      "trap 'stty size; exit 4' WINCH; while :; do echo armed; sleep 0.01; done", "tty: true"};
  const auto attached = attach(container, true);
  CHECK(read_all(*attached, "armed").code < 0);
  CHECK_FALSE(say(*attached, "hello\n"));
  attached->resize(30, 90);
  const auto all = read_all(*attached);
  CHECK_THAT(all.output, Catch::Contains("30 90"));
  CHECK(all.code == 4);
}

TEST_CASE("a terminal belongs to the container's user", "[kubelet]") {
  const auto rights = actors::read_rights();
  if (rights.user != 0 || !rights.has("SYS_ADMIN")) return skip("this user is not root");
  running_container container{
      "stat -c %u $(tty); echo by name > /dev/stdout; echo all > /dev/tty; read end",
      "stdin: true, stdinOnce: true, tty: true, securityContext: {runAsUser: 54321, capabilities: "
      "{drop: [ALL]}}"};
  auto attached = attach(container, true);
  attached.reset();  // its last packet is the end of the input
  container.ended.wait();
  CHECK(texts_of(container.log()) == "54321\r\nby name\r\nall\r\n");
}

TEST_CASE("with stdinOnce the input ends with the first client that has input", "[kubelet]") {
  running_container container{"cat; echo over; exec sleep 300", "stdin: true, stdinOnce: true"};
  const auto watching = attach(container);
  attach(container).reset();  // has no input
  auto first = attach(container, true), second = attach(container, true);
  CHECK(say(*first, "hello\n"));
  CHECK(read_all(*watching, "hello\n").output == "hello\n");
  CHECK(say(*second, "there\n"));
  CHECK(read_all(*watching, "there\n").output == "there\n");
  SECTION("when it goes") {
    first.reset();
  }
  SECTION("when it says so") {
    first->close_input();
  }
  CHECK(read_all(*watching, "over\n").output == "over\n");
  CHECK(read_all(*second, "over\n").output == "hello\nthere\nover\n");
  CHECK_FALSE(say(*second, "more"));
  CHECK_FALSE(say(*attach(container, true), "more"));
}

TEST_CASE("without stdinOnce the input stays for the next one", "[kubelet]") {
  running_container container{"exec cat", "stdin: true"};
  for (const std::string word : {"one\n", "two\n"}) {
    const auto attached = attach(container, true);
    CHECK(say(*attached, word));
    CHECK(read_all(*attached, word).output == word);
    attached->close_input();
    CHECK_FALSE(say(*attached, "more"));
  }
}

TEST_CASE("accepted input reaches the container although its sender has gone", "[kubelet]") {
  const scratch_folder folder;
  const auto gate = (folder.path() / "gate").string();
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  running_container container{"read go < " + gate + "; wc -c; exec sleep 300",
                              "stdin: true, stdinOnce: true"};
  const auto watching = attach(container);
  auto sender = attach(container, true);
  CHECK(say(*sender, std::string(150'000, 'x')));
  sender.reset();
  std::ofstream{gate} << "go\n";
  CHECK(read_all(*watching, "\n").output == "150000\n");
}

TEST_CASE("an attachment ends with the container's exit code, after all of its output",
          "[kubelet]") {
  running_container container{"read go; head -c 300000 /dev/zero; echo bye >&2; exit 7",
                              "stdin: true"};
  const auto one = attach(container, true), other = attach(container);
  CHECK(say(*one, "go\n"));
  for (const auto* each : {&one, &other}) {
    const auto all = read_all(**each);
    CHECK(all.output.size() == 300'000);
    CHECK(all.error == "bye\n");
    CHECK(all.code == 7);
    CHECK(next(**each).code == 7);
  }
  container.ended.wait();
  const auto late = try_attach(container, container.id);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == actors::runtime_error::kind::not_found);
  CHECK(late.error().message == "container c is not running");
}

TEST_CASE("a container that is killed with its shim ends its attachments", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const auto attached = attach(container);
  ::kill(container.dir().running()->shim.pid, SIGKILL);
  const auto all = read_all(*attached);
  CHECK(all.error.empty());
  CHECK(all.code == 137);
}

TEST_CASE("the last output stays readable after the container's end", "[kubelet]") {
  running_container container{"read go; head -c 3000000 /dev/zero; exit 5", "stdin: true"};
  const auto attached = attach(container, true);
  CHECK(say(*attached, "go\n"));
  container.ended.wait();
  const auto all = read_all(*attached);
  CHECK(all.output.size() == 3'000'000);
  CHECK(all.code == 5);
}

TEST_CASE("a reader that is too slow is disconnected, and delays neither container nor log",
          "[kubelet]") {
  constexpr std::size_t step = 1'000'000, size = 19 * step;
  running_container container{"while read go && test $go = more; do head -c " +
                                  std::to_string(step) +
                                  " /dev/zero | tr '\\0' x; done; echo; echo last; exec sleep 300",
                              "stdin: true"};
  const auto slow = attach(container), fast = attach(container, true);
  const auto expected = std::string(size, 'x') + "\nlast\n";
  whole seen;
  const auto read_to = [&](std::size_t end) {
    while (seen.output.size() < end) {
      const auto part = next(*fast);
      REQUIRE(part.from == exec_part::kind::output);
      seen.output += part.bytes;
    }
  };
  // The container waits for this reader, which is therefore fast enough on any machine.
  for (std::size_t end = step; end <= size; end += step) {
    CHECK(say(*fast, "more\n"));
    read_to(end);
  }
  CHECK(say(*fast, "enough\n"));
  read_to(expected.size());
  CHECK(seen.output == expected);
  CHECK(texts_of(container.log().string() + ".1") + texts_of(container.log()) == expected);
  const auto cut = read_all(*slow);
  CHECK(cut.output == std::string(cut.output.size(), 'x'));
  CHECK(cut.output.size() < size);
  CHECK_THAT(cut.error, Catch::Contains("cut off from container c"));
  CHECK(cut.code == actors::attach_cut_off);
}

TEST_CASE("a container is attached to again after a restart", "[kubelet]") {
  running_container container{"exec cat", "stdin: true"};
  auto before = attach(container, true);
  CHECK(say(*before, "one\n"));
  CHECK(read_all(*before, "one\n").output == "one\n");
  before.reset();
  container.restart_runtime();
  const auto after = attach(container, true);
  CHECK(say(*after, "two\n"));
  CHECK(read_all(*after, "two\n").output == "two\n");
}

TEST_CASE("attachments are limited, and silent ones are closed for new ones", "[kubelet]") {
  running_container container{"exec cat", "stdin: true"};
  std::vector<stranger> silent;
  for (std::size_t i = 0; i < actors::process_defaults::attach_limit; ++i)
    silent.emplace_back(container);
  std::vector<stream> all;
  for (std::size_t i = 0; i < actors::process_defaults::attach_limit; ++i)
    all.push_back(attach(container, true));
  const auto refused = try_attach(container, container.id);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == actors::runtime_error::kind::failed);
  CHECK(refused.error().message ==
        "cannot attach to container c: too many clients are attached to the container");
  CHECK(say(*all.front(), "hello\n"));
  for (const auto& each : all)
    CHECK(read_all(*each, "hello\n").output == "hello\n");
}

TEST_CASE("an invalid message to a container's socket closes the connection", "[kubelet]") {
  running_container container{"exec cat", "stdin: true"};
  const auto attached = attach(container, true);
  const std::string open = "o1", large(100'000, 'i');
  for (const std::vector<std::string>& packets :
       std::vector<std::vector<std::string>>{{"GET / HTTP/1.1\r\n\r\n"},
                                             {"ibefore it has joined"},
                                             {"o"},
                                             {"o99999999999"},
                                             {open, open},
                                             {open, large},
                                             {open, "w24"},
                                             {open, "w24 -1"},
                                             {open, "wx y"},
                                             {open, "z"},
                                             {"o0", "iit said that it has none"},
                                             {std::string(1, '\0')}}) {
    CAPTURE(packets.front(), packets.back().substr(0, 20));
    const stranger caller{container};
    for (const auto& each : packets)
      caller.say(each);
    if (packets.front().starts_with("o") && packets.size() > 1) CHECK(caller.hear() == "h1");
    CHECK(caller.hear().empty());
  }
  CHECK(say(*attached, "well\n"));
  CHECK(read_all(*attached, "well\n").output == "well\n");
}

TEST_CASE("a container's socket is accessible to its owner only", "[kubelet]") {
  running_container container{"exec sleep 300"};
  struct stat info {};
  REQUIRE(::stat((container.dir().path() / "attach").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0600);
  REQUIRE(::stat(container.dir().path().c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0700);
}

TEST_CASE("attaching to a container that does not exist is an error", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const auto message = [&](const std::string& id) {
    const auto answer = try_attach(container, id);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == actors::runtime_error::kind::not_found);
    return answer.error().message;
  };
  CHECK(message("process://u/../c") == "there is no container \"process://u/../c\"");
  CHECK(message("process://" + container.uid() + "/c/1") == "container c is not running");
  CHECK(message("process://" + container.uid() + "/d/0") == "container d is not running");
  std::filesystem::remove(container.dir().path() / "attach");
  const auto earlier = try_attach(container, container.id);
  REQUIRE_FALSE(earlier);
  CHECK_THAT(earlier.error().message, Catch::Contains("started by an earlier version"));
}

TEST_CASE("the cost of starting a container and of keeping its shim", "[.bench]") {
  const auto begun = std::chrono::steady_clock::now();
  std::vector<double> each_ms;
  std::int64_t private_kb = 0;
  for (int i = 0; i < 50; ++i) {
    const auto before = std::chrono::steady_clock::now();
    running_container container{"exec sleep 300"};
    each_ms.push_back(
        std::chrono::duration<double, std::milli>{std::chrono::steady_clock::now() - before}
            .count());
    std::ifstream in{"/proc/" + std::to_string(container.dir().running()->shim.pid) +
                     "/smaps_rollup"};
    for (std::string word; in >> word;)
      if (std::int64_t kb = 0; word.starts_with("Private_") && in >> kb) private_kb += kb;
  }
  std::sort(each_ms.begin(), each_ms.end());
  WARN("start of a container: median "
       << each_ms[25] << " ms, slowest " << each_ms.back() << " ms; its shim: " << private_kb / 50
       << " KB of its own; all in "
       << std::chrono::duration<double>{std::chrono::steady_clock::now() - begun}.count() << " s");
}

}  // namespace troupe::test
