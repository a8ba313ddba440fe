// A container runtime whose containers are processes of this machine
// (docs/decisions/0024-runtimes.md). It has no images and no pod network. No other part of the
// kubelet knows about shims, container directories and boots of the machine.
//
// Port forwarding to a pod reaches every port of this machine's 127.0.0.1, which is the pod's
// address too. A pod without running containers has no ports.
//
// A sandbox is a boot of the machine: its id is UID@BOOT. A container's id is
// process://UID/NAME/ATTEMPT. Threads: those of the given job queue, one event loop, and one for
// logs after the first read.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/os/lazy_pool.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/process/container_files.hpp"
#include "actors/kubelet/runtimes/process/container_processes.hpp"
#include "actors/kubelet/runtimes/process/exec_process.hpp"
#include "actors/kubelet/runtimes/process/process_spec.hpp"

namespace troupe::actors {

struct process_runtime_options {
  // The kubelet's root directory (volumes/pod_files.hpp).
  std::filesystem::path root_dir;
  std::shared_ptr<job_queue> jobs;
  // The program to start with `container-shim DIR`; empty: this same program.
  std::string program = {};
  // Directories that no container may reach, as in the kubelet's options.
  std::vector<std::string> hidden = {};
  std::int64_t pod_pids_limit = 4096;
  log_limits log = {};
  // False: volumes are not mounted in containers, even if the machine allows it.
  bool may_mount = true;
  // The rights that the node may give to containers; absent: detected.
  std::optional<machine_rights> rights = {};
  // Id of the current boot; empty: read from the kernel.
  std::string boot_id = {};
  // The cluster's DNS, for pods whose dnsPolicy asks for it; no address: pods use the machine's
  // resolvers.
  cluster_resolver cluster = {};
};

class process_runtime final : public container_runtime {
 public:
  // Detects the machine's features, which blocks: do not call it on an actor's thread.
  explicit process_runtime(process_runtime_options options);
  // Leaves containers running; commands in containers are ended.
  ~process_runtime() override;

  runtime_features features() const override { return features_; }
  bool has_strict_groups() const override { return true; }
  std::vector<std::string> unsupported_fields(const api::core::v1::Pod& pod) const override;

  void list_pods(std::function<void(std::vector<std::string>)> done) override;
  void list(const std::string& pod_uid, std::function<void(found_pod)> done) override;
  void run_sandbox(sandbox_config config, sandbox_observer observer) override;
  void follow_sandbox(const std::string& id, sandbox_observer observer) override;
  void remove_pod(const std::string& pod_uid, problem_observer done) override;
  void limit_pods(const pods_limits& limits) override;

  void create_container(container_config config, runtime_answer<std::string> done) override;
  void start_container(const std::string& id, container_observer observer) override;
  void follow_container(const std::string& id, container_observer observer) override;
  void stop_container(const std::string& id, runtime::duration grace,
                      problem_observer failed) override;
  std::string resize_problem() const override;
  void resize(resize_request request, runtime_answer<void> done) override;
  void remove_container(const std::string& id) override;
  void run_command(const std::string& id, std::vector<std::string> command,
                   runtime::duration timeout, runtime_answer<command_result> done) override;

  void pull_image(image_request request, std::function<void()> pulling,
                  runtime_answer<available_image> done) override;

  std::unique_ptr<log_stream> open_log(const log_address& from, log_query query) override;
  void open_exec(const std::string& id, exec_request request,
                 runtime_answer<std::unique_ptr<exec_stream>> done) override;
  void attach(const std::string& id, exec_request request,
              runtime_answer<std::unique_ptr<exec_stream>> done) override;
  void forward_port(const std::string& pod_uid, int port,
                    runtime_answer<std::unique_ptr<port_stream>> done) override;

  void read_usage(std::function<void(std::vector<container_counters>)> done) override;
  void count_processes(std::vector<api::object_ptr> pods,
                       std::function<void(std::vector<std::int64_t>)> done) override;

 private:
  std::optional<container_dir> dir_of(const std::string& id) const;
  // Runs in order with the pod's other requests.
  void find_running(const std::string& pod_uid,
                    std::function<void(std::vector<container_processes::found>)> done);
  void start_command(const std::string& id, exec_request request,
                     std::function<void(runtime_result<exec_process>)> done);

  const process_runtime_options options_;
  const process_machine machine_;
  const runtime_features features_;
  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<lazy_pool> logs_;
  std::mutex mutex_;
  std::map<std::string, container_spec> created_;  // created but not started, by id
  container_processes processes_;
};

}  // namespace troupe::actors
