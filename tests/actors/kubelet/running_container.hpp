// A container of a pod, run by the process runtime for the duration of a test.
#pragma once

#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/kubelet/runtimes/process/process_runtime.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "api/codec/codec.hpp"
#include "api/scheme.hpp"
#include "build_paths.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

struct running_container {
  // `fields`: more fields of its container, e.g. "stdin: true".
  explicit running_container(const std::string& script, const std::string& fields = "") {
    using api::core::v1::Pod;
    auto decoded = api::decode("metadata: {name: p, uid: " + uid() +
                                   "}\nspec:\n  containers:\n  - {name: c, workingDir: /tmp" +
                                   (fields.empty() ? "" : ", " + fields) + "}\n",
                               api::media::yaml, &api::kind_of<Pod>());
    REQUIRE(decoded);
    const auto pod =
        std::make_shared<api::object>(api::kind_of<Pod>(), std::move(decoded->content), 1);
    containers->create_container({.pod = pod,
                                  .spec = {pod, &pod->as<Pod>().spec().containers(0)},
                                  .sandbox = "s",
                                  .command = {"/bin/sh", "-c", script},
                                  .environment = {"PATH=/bin:/usr/bin", "COLOUR=blue"}},
                                 [this](auto made) { id = made.value(); });
    std::promise<void> runs;
    containers->start_container(id, observer(runs));
    runs.get_future().get();
  }
  ~running_container() {
    containers->stop_container(id, {}, {});
    ended.wait();
  }

  // As if the node is killed: the container keeps running.
  void restart_runtime() {
    containers.reset();
    containers = make_runtime();
    std::promise<void> runs;
    containers->follow_container(id, observer(runs));
    runs.get_future().get();
  }
  actors::container_observer observer(std::promise<void>& runs) {
    return [this, &runs, told = false](const actors::container_change& change) mutable {
      if (std::exchange(told, true)) return over.set_value();
      CHECK(std::holds_alternative<actors::container_running>(change));
      runs.set_value();
    };
  }

  actors::command_result run(std::vector<std::string> command,
                             runtime::duration timeout = std::chrono::minutes{1}) {
    std::promise<actors::runtime_result<actors::command_result>> answer;
    containers->run_command(id, std::move(command), timeout,
                            [&](auto result) { answer.set_value(std::move(result)); });
    auto result = answer.get_future().get();
    REQUIRE(result);
    return *result;
  }
  actors::command_result exec(const std::string& script,
                              runtime::duration timeout = std::chrono::minutes{1}) {
    return run({"/bin/sh", "-c", script}, timeout);
  }
  actors::container_dir dir() const {
    const auto pod = actors::pod_path(place.path(), uid());
    return actors::container_dir{actors::attempt_path(pod, "c", 0)};
  }
  // The container's own.
  actors::process_id process() const { return dir().running()->process; }
  std::filesystem::path log() const { return actors::log_path(place.path(), uid(), "c", 0); }
  // Part of its control group's name, too.
  std::string uid() const { return place.path().filename(); }

  std::shared_ptr<actors::container_runtime> make_runtime() {
    return std::make_shared<actors::process_runtime>(actors::process_runtime_options{
        .root_dir = place.path(), .jobs = jobs, .program = TROUPE_BINARY_DIR "/container_shim"});
  }

  scratch_folder place;
  std::string id;
  std::promise<void> over;
  std::shared_future<void> ended{over.get_future()};
  const std::shared_ptr<actors::job_queue> jobs =
      std::make_shared<actors::job_queue>("containers", 2, 100);
  std::shared_ptr<actors::container_runtime> containers = make_runtime();
};

}  // namespace troupe::test
