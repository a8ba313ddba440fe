// A container runtime that runs nothing: it has images and sandboxes with their own addresses,
// answers within the call, and is controlled by the test. Thread safe.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/container_runtime.hpp"
#include "support/fake_streams.hpp"

namespace troupe::test {

class fake_runtime final : public actors::container_runtime {
 public:
  // -- for the test
  // The calls as texts, in order, except queries.
  std::vector<std::string> calls();
  bool was_asked(const std::string& call);
  void fail_pulls(std::optional<actors::runtime_error> error);
  // From now on pulls, creations or kills are not answered, until `answer_held`, in their order.
  void hold_pulls();
  void hold_creations();
  void hold_kills();  // they fail then
  void answer_held();
  void pull_as(actors::available_image::pull pull);  // images are absent before
  // What stops with grace, and the removal of pods, answer.
  void fail_stops(std::string problem);
  void ignore_stops(bool ignored);  // containers run on, also if they are killed
  void fail_removals(std::string problem);
  // From now on `list_pods` is not answered, except the first request, by `answer_list`.
  void hold_lists();
  bool was_listed();
  int lists();  // requests so far
  void answer_list(std::vector<std::string> uids);
  void fail_creation(std::optional<actors::runtime_error> error);
  void fail_resizes(std::optional<actors::runtime_error> error);
  void has(const std::string& pod_uid, actors::found_pod found);
  void lose_sandbox();
  actors::sandbox_observer sandbox();  // the observer of the last sandbox
  void end_container(const std::string& name, int code);
  void has_layers(std::vector<actors::layer_usage> layers);
  void has_processes(const std::string& pod_uid, std::int64_t count);
  void fill_disk(std::string problem);
  void lack_network(std::string problem);
  std::int64_t burstable_milli_cpu() const { return burstable_milli_cpu_; }
  fake_streams& streams() noexcept { return streams_; }

  // -- as a runtime
  actors::runtime_features features() const override { return features_; }
  std::string image_problem() const override;
  std::string network_problem() const override;
  std::vector<std::string> unsupported_fields(const api::core::v1::Pod&) const override {
    return {};
  }
  void list_pods(std::function<void(std::vector<std::string>)> done) override;
  void list(const std::string& pod_uid, std::function<void(actors::found_pod)> done) override;
  void run_sandbox(actors::sandbox_config config, actors::sandbox_observer observer) override;
  void follow_sandbox(const std::string& id, actors::sandbox_observer observer) override;
  void stop_sandboxes(const std::string& pod_uid) override;
  void remove_pod(const std::string& pod_uid, actors::problem_observer done) override;
  void share_cpu(std::int64_t milli_cpu) override { burstable_milli_cpu_ = milli_cpu; }
  void create_container(actors::container_config config,
                        actors::runtime_answer<std::string> done) override;
  void start_container(const std::string& id, actors::container_observer observer) override;
  void follow_container(const std::string& id, actors::container_observer observer) override;
  void stop_container(const std::string& id, runtime::duration grace,
                      actors::problem_observer failed) override;
  std::string resize_problem() const override { return {}; }
  void resize(actors::resize_request request, actors::runtime_answer<void> done) override;
  void remove_container(const std::string& id) override;
  void run_command(const std::string& id, std::vector<std::string> command,
                   runtime::duration timeout,
                   actors::runtime_answer<actors::command_result> done) override;
  void free_disk(actors::node_disk of, std::function<void()> done) override;
  void pull_image(actors::image_request request, std::function<void()> pulling,
                  actors::runtime_answer<actors::available_image> done) override;
  std::unique_ptr<actors::log_stream> open_log(const actors::log_address& from,
                                               actors::log_query query) override;
  void open_exec(const std::string& id, actors::exec_request request,
                 actors::runtime_answer<std::unique_ptr<actors::exec_stream>> done) override;
  void attach(const std::string& id, actors::exec_request request,
              actors::runtime_answer<std::unique_ptr<actors::exec_stream>> done) override;
  void forward_port(const std::string& pod_uid, int port,
                    actors::runtime_answer<std::unique_ptr<actors::port_stream>> done) override;
  void read_usage(std::function<void(std::vector<actors::container_counters>)> done) override {
    done({});
  }
  void read_layers(const std::string& pod_uid,
                   std::function<void(std::vector<actors::layer_usage>)> done) override;
  void count_processes(std::vector<api::object_ptr> pods,
                       std::function<void(std::vector<std::int64_t>)> done) override;

 private:
  void note(std::string call);

  const actors::runtime_features features_{
      .name = "fake", .version = "fake://1", .ephemeral_containers = true};
  mutable std::mutex mutex_;
  std::atomic<std::int64_t> burstable_milli_cpu_ = -1;
  fake_streams streams_;
  std::vector<std::string> calls_;
  std::optional<actors::runtime_error> pull_error_, create_error_, resize_error_;
  std::optional<actors::available_image::pull> pull_;
  std::string stop_problem_, removal_problem_, image_problem_, network_problem_;
  bool hold_pulls_ = false, hold_creations_ = false, hold_lists_ = false, hold_kills_ = false,
       ignore_stops_ = false;
  std::vector<std::function<void()>> held_;
  std::map<std::string, int> made_;  // how often an id was given: a later one gets a suffix
  std::function<void(std::vector<std::string>)> listed_;  // the first request that is held
  int sandboxes_ = 0, lists_ = 0;
  std::vector<actors::layer_usage> layers_;
  std::map<std::string, std::int64_t> processes_;              // by uid
  std::map<std::string, actors::found_pod> found_;             // by uid
  actors::sandbox_observer sandbox_;                           // of the last sandbox
  std::map<std::string, actors::container_observer> running_;  // by id
};

}  // namespace troupe::test
