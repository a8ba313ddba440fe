// A container runtime on containerd, or another server of the container runtime interface, version
// 1 (docs/decisions/0047-containers-by-cri.md). The server holds all state: after a restart of this
// process it is queried again.
//
// A sandbox's id is the server's. A container's id is containerd://ID, with the server's name.
// Threads: one event loop, on which all calls are sent and answered; those of a job queue for
// files; one for logs after the first read. While the server is away calls fail at once; the
// connection recovers by itself.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/os/lazy_pool.hpp"
#include "actors/kubelet/os/resolver_file.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/cri/container_watcher.hpp"
#include "actors/kubelet/runtimes/cri/image_collector.hpp"
#include "actors/kubelet/runtimes/cri/image_puller.hpp"

namespace troupe::actors {

struct cri_runtime_options {
  std::filesystem::path root_dir;
  std::string socket;  // path of the server's socket
  // Address of the cluster's DNS and its domain; empty: pods use the node's
  // resolvers.
  std::string dns_address = {};
  std::string dns_domain = {};
  image_limits images = {};
  log_limits log = {};
  // Of the containers of one pod; 0: no limit.
  std::int64_t pod_pids_limit = 0;
  // Exists while systemd runs on the machine.
  std::filesystem::path systemd = "/run/systemd/system";
};

// The path in "unix:///run/x.sock" or "/run/x.sock"; nothing if the endpoint is neither.
std::optional<std::string> socket_path(std::string_view endpoint);
// Asks a CRI server for its version: "containerd 1.6.20", or the error. Blocks for at most
// `cri_defaults::version_timeout`.
tl::expected<std::string, std::string> ask_runtime_version(const std::string& socket);
// Asks for the server's folder of pod network configuration (CNI); empty if it gives none. Blocks
// for the same time.
tl::expected<std::string, std::string> ask_cni_folder(const std::string& socket);

class cri_runtime final : public container_runtime {
 public:
  // Asks the server for its name, which blocks: not for actor threads.
  explicit cri_runtime(cri_runtime_options options);
  // Leaves containers running.
  ~cri_runtime() override;

  runtime_features features() const override;
  bool has_strict_groups() const override;
  std::string problem() const override;
  std::string network_problem() const override;
  std::vector<std::string> unsupported_fields(const api::core::v1::Pod& pod) const override;

  void list_pods(std::function<void(std::vector<std::string>)> done) override;
  void list(const std::string& pod_uid, std::function<void(found_pod)> done) override;
  void run_sandbox(sandbox_config config, sandbox_observer observer) override;
  void follow_sandbox(const std::string& id, sandbox_observer observer) override;
  void stop_sandboxes(const std::string& pod_uid) override;
  void remove_pod(const std::string& pod_uid, problem_observer done) override;
  void limit_pods(const pods_limits& limits) override;
  void share_cpu(std::int64_t burstable_milli_cpu) override;

  void create_container(container_config config, runtime_answer<std::string> done) override;
  void start_container(const std::string& id, container_observer observer) override;
  void follow_container(const std::string& id, container_observer observer) override;
  void stop_container(const std::string& id, runtime::duration grace,
                      problem_observer failed) override;
  std::string resize_problem() const override { return {}; }
  void resize(resize_request request, runtime_answer<void> done) override;
  void remove_container(const std::string& id) override;
  void run_command(const std::string& id, std::vector<std::string> command,
                   runtime::duration timeout, runtime_answer<command_result> done) override;

  std::vector<stored_image> images() const override;
  std::string image_problem() const override;
  std::filesystem::path image_directory() const override;
  void free_disk(node_disk of, std::function<void()> done) override;
  void pull_image(image_request request, std::function<void()> pulling,
                  runtime_answer<available_image> done) override;

  std::unique_ptr<log_stream> open_log(const log_address& from, log_query query) override;
  void open_exec(const std::string& id, exec_request request,
                 runtime_answer<std::unique_ptr<exec_stream>> done) override;
  void attach(const std::string& id, exec_request request,
              runtime_answer<std::unique_ptr<exec_stream>> done) override;
  void forward_port(const std::string& pod_uid, int port,
                    runtime_answer<std::unique_ptr<port_stream>> done) override;

  bool has_systemd_groups() const override { return groups() == group_driver::systemd; }
  void read_usage(std::function<void(std::vector<container_counters>)> done) override;
  void read_layers(const std::string& pod_uid,
                   std::function<void(std::vector<layer_usage>)> done) override;
  void count_processes(std::vector<api::object_ptr> pods,
                       std::function<void(std::vector<std::int64_t>)> done) override;

 private:
  struct known_sandbox {
    std::uint32_t attempt = 0;
    std::vector<std::string> ips;  // empty: uses the node's network
  };
  using sandboxes = std::vector<cri::PodSandbox>;
  // The server did not answer yet.
  static constexpr const char* unknown_version = "containerd://unknown";

  // Calls `next` on the loop's thread once nothing is being created for the pod.
  void when_created(const std::string& pod_uid, std::function<void()> next);
  // Sorted from the newest to the oldest.
  void list_sandboxes(const std::string& pod_uid, std::function<void(cri_result<sandboxes>)> done);
  void list_now(const std::string& pod_uid, std::function<void(found_pod)> done);
  void stop_sandboxes_now(const std::string& pod_uid);
  void remove_pod_now(const std::string& pod_uid, problem_observer done);
  void list_containers(const std::string& pod_uid,
                       std::function<void(cri_result<std::vector<cri::Container>>)> done);
  void describe(const std::string& pod_uid, const sandboxes& pods,
                const std::vector<cri::Container>& all, std::function<void(found_pod)> done);
  void address_of(const std::string& sandbox, std::uint32_t attempt,
                  std::function<void(cri_result<sandbox_status>)> done);
  void replace_sandbox(const sandbox_config& config, sandbox_observer observer);
  void start_sandbox(const sandbox_config& config, std::uint32_t attempt,
                     sandbox_observer observer);
  // Stops and removes sandboxes one after another. `done` receives the first problem.
  void remove_sandboxes(std::vector<std::string> ids, problem_observer done,
                        std::string problem = {});
  void send_container(container_config config, const image_user& user,
                      runtime_answer<std::string> done);
  void send_creation(const cri::CreateContainerRequest& request, bool again,
                     std::function<void(const cri_result<cri::ContainerId>&)> done);
  void take_start(const std::string& own, const cri_result<cri::Nothing>& started,
                  container_observer observer);
  void remove_older(const container_config& than, std::function<void()> done);
  // Resizes one container after another, from the last one.
  void resize_containers(const std::shared_ptr<resize_request>& request, runtime_answer<void> done);
  void check_health();
  void report_health(const cri_result<cri::StatusResponse>& status);
  void list_images();
  void take_version(const cri::VersionResponse& version);
  void take_features(const cri::StatusResponse& status);
  // Asks for the driver of control groups and the image of sandboxes.
  void ask_config(std::function<void()> next);
  void take_config(const cri::StatusResponse& status,
                   const cri_result<cri::RuntimeConfigResponse>& config);
  void check_sandbox_image();
  group_driver groups() const;
  std::string groups_problem() const;
  cri_node current_node() const;  // with what the server and the machine's files say now

  std::string own_id(const std::string& id) const;     // with the runtime's name
  std::string server_id(const std::string& id) const;  // without

  const cri_runtime_options options_;
  cri_node node_;
  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<cri_client> client_;
  const std::shared_ptr<lazy_pool> logs_;
  mutable resolver_file resolvers_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  runtime_features features_;
  bool strict_groups_ = false, recursive_read_only_ = false;
  group_driver groups_ = group_driver::cgroupfs;
  std::optional<pods_limits> all_pods_limits_;
  std::optional<std::int64_t> burstable_milli_cpu_;
  std::string problem_;  // why no pod can run
  std::string network_problem_;
  std::string image_problem_;
  std::vector<stored_image> stored_images_;
  std::filesystem::path image_directory_;  // empty: unknown
  std::set<std::string> killing_;  // the server's ids of containers whose kill is not answered
  // Belongs to the loop's thread.
  bool config_known_ = false;  // of the server that answers now
  std::string sandbox_image_;  // empty: unknown
  std::string sandbox_image_problem_;
  bool pulling_sandbox_image_ = false;
  std::map<std::string, known_sandbox> sandboxes_;
  std::set<std::string> new_pods_;  // uids of pods that had no sandbox yet
  // Calls that are not answered: uids of pods for which something is created, and the server's ids
  // of containers that are started.
  std::multiset<std::string> creating_;
  std::set<std::string> starting_;
  image_puller images_;
  image_collector collector_;
  container_watcher watcher_;
  job_queue jobs_;  // destroyed first: its jobs use the rest
};

}  // namespace troupe::actors
