// A joined node whose streams the test controls, and a client that opens, reads and writes them at
// the control plane.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/link/joined.hpp"
#include "actors/link/node_links.hpp"
#include "support/fake_streams.hpp"

namespace troupe::test {

// One stream of a source, and its results.
struct remote_client {
  actors::runtime_answer<std::unique_ptr<actors::exec_stream>> opened() {
    return [this](auto result) {
      ++answers;
      if (result)
        stream = std::move(*result);
      else
        error = std::move(result.error());
    };
  }

  // Reads one part, or all parts until the end.
  void read(bool on = false) {
    reading = true;
    stream->read([this, on](actors::exec_part part) {
      reading = false;
      if (part.from == actors::exec_part::kind::ended) return end.push_back(std::move(part));
      (part.from == actors::exec_part::kind::error ? errors : output) += part.bytes;
      if (on) read(true);
    });
  }
  void continue_reading() { read(true); }
  void write(std::string bytes) {
    stream->write(std::move(bytes), [this](bool well) { written.push_back(well); });
  }

  std::unique_ptr<actors::exec_stream> stream;
  std::optional<actors::runtime_error> error;
  int answers = 0;
  bool reading = false;
  std::string output, errors;
  std::vector<actors::exec_part> end;
  std::vector<bool> written;
};

struct node_with_streams {
  explicit node_with_streams(std::uint64_t seed = 1, bool connected = true)
      : world{seed, {.plane = {.controllers = false}}} {
    world.add("n0");
    world.start("n0", streams);
    if (connected) REQUIRE(world.connect("n0"));
    plane.settle();
  }

  std::unique_ptr<remote_client> exec(std::vector<std::string> command, bool input = true) {
    auto made = std::make_unique<remote_client>();
    source->open_exec("c1", {std::move(command), input, false}, made->opened());
    plane.settle();
    return made;
  }
  std::shared_ptr<fake_command> last() const { return streams->commands().back(); }

  const std::shared_ptr<fake_streams> streams = std::make_shared<fake_streams>();
  joined_cluster world;
  cluster& plane = world.plane();
  const std::shared_ptr<actors::stream_source> source = plane.plane().links().streams_of("n0");
};

}  // namespace troupe::test
