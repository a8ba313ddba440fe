// Commands in a real container as streams of the process runtime.
#include "actors/kubelet/runtimes/process/command_stream.hpp"

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/running_container.hpp"
#include "actors/kubelet/stream_talk.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using actors::exec_part;

namespace {

std::unique_ptr<actors::exec_stream> open(running_container& container, const std::string& script,
                                          bool input = false, bool tty = false) {
  std::promise<std::unique_ptr<actors::exec_stream>> opened;
  container.containers->open_exec(
      container.id, {{"/bin/sh", "-c", script}, input, tty},
      [&](auto stream) { opened.set_value(std::move(stream.value())); });
  return opened.get_future().get();
}

}  // namespace

TEST_CASE("a command is read in parts, its streams apart, its end last", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const auto stream = open(container, "head -c 1000000 /dev/zero; echo err >&2; cat; exit 7");
  const auto all = read_all(*stream);
  CHECK(all.output.size() == 1'000'000);
  CHECK(all.error == "err\n");
  CHECK(all.largest <= actors::kubelet_defaults::exec_part_bytes);
  CHECK(all.code == 7);
  CHECK(next(*stream).code == 7);
}

TEST_CASE("a command takes its input as fast as it reads, until the end", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const auto stream = open(container, "read go; cat | wc -c; exec >&- 2>&-; exit 0", true);
  // More than a pipe's capacity: it is not accepted before the command reads.
  std::promise<bool> taken;
  auto answer = taken.get_future();
  CHECK(say(*stream, "go\n"));
  stream->write(std::string(1'000'000, 'x'), [&](bool well) { taken.set_value(well); });
  CHECK(answer.get());
  stream->close_input();
  CHECK(read_all(*stream).output == "1000000\n");
  CHECK_FALSE(say(*stream, "more"));
}

TEST_CASE("a command with a terminal has its size, and one stream", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const auto stream = open(container, "stty -echo; read go; stty size; cat; exit 3", true, true);
  stream->resize(24, 100);
  CHECK(say(*stream, "go\n"));
  stream->close_input();
  const auto all = read_all(*stream);
  CHECK_THAT(all.output, Catch::Contains("24 100"));
  CHECK(all.error.empty());
  CHECK(all.code == 3);
}

TEST_CASE("a command ends when the last handle of its stream is dropped", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const auto mark = container.place.path() / "mark";
  // Ignores the signals to its shell; killed with it.
  auto stream = open(container, "trap '' TERM; echo $$ > " + mark.string() +
                                    "; echo begun; while :; do sleep 1; done");
  REQUIRE(next(*stream).bytes == "begun\n");
  stream.reset();
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  const auto runs = [&] {
    return container.exec("kill -0 $(cat " + mark.string() + ") 2>/dev/null").code == 0;
  };
  while (runs() && std::chrono::steady_clock::now() < deadline) {
  }
  CHECK_FALSE(runs());
}

TEST_CASE("a log is found by the id of its container, and an id leads to no other path",
          "[kubelet]") {
  running_container container{"echo hello; exec sleep 300"};
  const auto uid = container.uid();
  container.place.write("elsewhere/logs/c/0.log",
                        "2026-01-02T03:04:05.000000006Z stdout F secret\n");
  const auto read = [&](const std::string& pod, const std::string& id) {
    std::promise<actors::log_text> text;
    const auto log = container.containers->open_log({pod, "c", id}, {});
    log->read([&](actors::log_text part) { text.set_value(std::move(part)); });
    return text.get_future().get();
  };
  CHECK_FALSE(read(uid, container.id).missing);
  for (const std::string& id : std::vector<std::string>{
           "process://" + uid + "/c/1", "process://" + uid + "/d/0", "process://" + uid + "/c/0x",
           "containerd://" + uid + "/c/0", "process://../elsewhere/c/0",
           "process://" + uid + "/../c/0", "process://", ""}) {
    CAPTURE(id);
    CHECK(read(uid, id).missing);
    CHECK(read("../elsewhere", id).missing);
  }
  CHECK(read("other", container.id).missing);
}

}  // namespace troupe::test
