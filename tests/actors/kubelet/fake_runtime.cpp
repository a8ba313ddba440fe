#include "actors/kubelet/fake_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/schema/core_pod.pb.h"

namespace troupe::test {

using namespace actors;

// -- for the test ---------------------------------------------------------------------------------

std::vector<std::string> fake_runtime::calls() {
  const std::lock_guard lock{mutex_};
  return calls_;
}

bool fake_runtime::was_asked(const std::string& call) {
  const auto all = calls();
  return std::find(all.begin(), all.end(), call) != all.end();
}

void fake_runtime::note(std::string call) {
  const std::lock_guard lock{mutex_};
  calls_.push_back(std::move(call));
}

void fake_runtime::fail_pulls(std::optional<runtime_error> error) {
  const std::lock_guard lock{mutex_};
  pull_error_ = std::move(error);
}

void fake_runtime::hold_pulls() {
  const std::lock_guard lock{mutex_};
  hold_pulls_ = true;
}

void fake_runtime::hold_creations() {
  const std::lock_guard lock{mutex_};
  hold_creations_ = true;
}

void fake_runtime::hold_kills() {
  const std::lock_guard lock{mutex_};
  hold_kills_ = true;
}

void fake_runtime::answer_held() {
  std::unique_lock lock{mutex_};
  hold_pulls_ = hold_creations_ = hold_kills_ = false;
  const auto held = std::exchange(held_, {});
  lock.unlock();
  for (const auto& each : held)
    each();
}

void fake_runtime::pull_as(available_image::pull pull) {
  const std::lock_guard lock{mutex_};
  pull_ = pull;
}

void fake_runtime::fail_stops(std::string problem) {
  const std::lock_guard lock{mutex_};
  stop_problem_ = std::move(problem);
}

void fake_runtime::ignore_stops(bool ignored) {
  const std::lock_guard lock{mutex_};
  ignore_stops_ = ignored;
}

void fake_runtime::fail_removals(std::string problem) {
  const std::lock_guard lock{mutex_};
  removal_problem_ = std::move(problem);
}

void fake_runtime::hold_lists() {
  const std::lock_guard lock{mutex_};
  hold_lists_ = true;
}

void fake_runtime::fail_creation(std::optional<runtime_error> error) {
  const std::lock_guard lock{mutex_};
  create_error_ = std::move(error);
}

void fake_runtime::fail_resizes(std::optional<runtime_error> error) {
  const std::lock_guard lock{mutex_};
  resize_error_ = std::move(error);
}

void fake_runtime::has(const std::string& pod_uid, found_pod found) {
  const std::lock_guard lock{mutex_};
  found_[pod_uid] = std::move(found);
}

actors::sandbox_observer fake_runtime::sandbox() {
  const std::lock_guard lock{mutex_};
  return sandbox_;
}

void fake_runtime::lose_sandbox() {
  sandbox()(sandbox_lost{{runtime_error::kind::failed, "it was killed"}});
}

void fake_runtime::end_container(const std::string& id, int code) {
  std::unique_lock lock{mutex_};
  const auto observer = running_.extract(id);
  lock.unlock();
  if (!observer.empty())
    observer.mapped()(container_exit{.code = code, .started_ms = 1'000, .finished_ms = 2'000});
}

void fake_runtime::has_processes(const std::string& pod_uid, std::int64_t count) {
  const std::lock_guard lock{mutex_};
  processes_[pod_uid] = count;
}

void fake_runtime::count_processes(std::vector<api::object_ptr> pods,
                                   std::function<void(std::vector<std::int64_t>)> done) {
  std::vector<std::int64_t> all;
  const std::lock_guard lock{mutex_};
  for (const auto& each : pods)
    all.push_back(processes_[each->meta().uid()]);
  done(std::move(all));
}

void fake_runtime::has_layers(std::vector<layer_usage> layers) {
  const std::lock_guard lock{mutex_};
  layers_ = std::move(layers);
}

void fake_runtime::fill_disk(std::string problem) {
  const std::lock_guard lock{mutex_};
  image_problem_ = std::move(problem);
}

void fake_runtime::lack_network(std::string problem) {
  const std::lock_guard lock{mutex_};
  network_problem_ = std::move(problem);
}

// -- as a runtime ---------------------------------------------------------------------------------

std::string fake_runtime::network_problem() const {
  const std::lock_guard lock{mutex_};
  return network_problem_;
}

std::string fake_runtime::image_problem() const {
  const std::lock_guard lock{mutex_};
  return image_problem_;
}

void fake_runtime::list_pods(std::function<void(std::vector<std::string>)> done) {
  {
    const std::lock_guard lock{mutex_};
    ++lists_;
    if (hold_lists_) {
      if (!listed_) listed_ = std::move(done);
      return;
    }
  }
  done({});
}

bool fake_runtime::was_listed() {
  const std::lock_guard lock{mutex_};
  return listed_ != nullptr;
}

int fake_runtime::lists() {
  const std::lock_guard lock{mutex_};
  return lists_;
}

void fake_runtime::answer_list(std::vector<std::string> uids) {
  std::unique_lock lock{mutex_};
  const auto done = listed_;
  lock.unlock();
  done(std::move(uids));
}

void fake_runtime::list(const std::string& pod_uid, std::function<void(found_pod)> done) {
  std::unique_lock lock{mutex_};
  const auto found = found_[pod_uid];
  lock.unlock();
  done(found);
}

void fake_runtime::run_sandbox(sandbox_config config, sandbox_observer observer) {
  std::unique_lock lock{mutex_};
  const auto number = ++sandboxes_;
  calls_.push_back(
      fmt::format("sandbox {}{}{}", number, config.handler.empty() ? "" : " by ", config.handler));
  sandbox_ = observer;
  lock.unlock();
  observer(sandbox_status{fmt::format("s{}", number), {fmt::format("10.9.0.{}", number)}});
}

void fake_runtime::follow_sandbox(const std::string& id, sandbox_observer observer) {
  note("follow sandbox " + id);
  const std::lock_guard lock{mutex_};
  sandbox_ = std::move(observer);
}

void fake_runtime::stop_sandboxes(const std::string&) {
  note("stop sandboxes");
}

void fake_runtime::remove_pod(const std::string&, problem_observer done) {
  note("remove pod");
  std::unique_lock lock{mutex_};
  const auto problem = removal_problem_;
  lock.unlock();
  done(problem);
}

void fake_runtime::create_container(container_config config, runtime_answer<std::string> done) {
  std::unique_lock lock{mutex_};
  if (const auto error = create_error_) {
    lock.unlock();
    return done(tl::make_unexpected(*error));
  }
  const auto target = config.target.empty() ? config.target : " at " + config.target;
  std::string devices;
  for (const auto& each : config.devices)
    devices += fmt::format(" with {} as {}{}", each.source, each.target,
                           each.read_only ? ", read-only" : "");
  calls_.push_back(fmt::format("create {} {} in {} from {}{}{}", config.spec->name(),
                               config.attempt, config.sandbox, config.image_ref, target, devices));
  auto id = fmt::format("fake://{}-{}", config.spec->name(), config.attempt);
  if (const auto same = made_[id]++; same != 0) id += fmt::format("-{}", same);
  if (hold_creations_) return held_.push_back([done, id] { done(id); });
  lock.unlock();
  done(id);
}

void fake_runtime::start_container(const std::string& id, container_observer observer) {
  note("start " + id);
  follow_container(id, std::move(observer));
}

void fake_runtime::follow_container(const std::string& id, container_observer observer) {
  std::unique_lock lock{mutex_};
  running_[id] = observer;
  lock.unlock();
  observer(container_running{1'000});
}

void fake_runtime::stop_container(const std::string& id, runtime::duration grace,
                                  problem_observer failed) {
  const bool kill = grace <= runtime::duration{};
  note((kill ? "kill " : "stop ") + id);
  std::unique_lock lock{mutex_};
  if (ignore_stops_) return;
  if (kill && hold_kills_)
    return held_.push_back([failed = std::move(failed)] { failed("no answer"); });
  const auto problem = kill ? std::string{} : stop_problem_;
  lock.unlock();
  if (!problem.empty()) return failed(problem);
  end_container(id, kill ? 137 : 143);
}

// Records "resize 500m (was 100m): fake://c-0", with the cpu request of the pod's first container.
void fake_runtime::resize(resize_request request, runtime_answer<void> done) {
  const auto cpu = [](const api::object_ptr& pod) {
    if (!pod) return std::string{"?"};
    const auto& all = pod->as<api::core::v1::Pod>().spec().containers(0).resources().requests();
    const auto found = all.find("cpu");
    return found == all.end() ? std::string{"0"} : found->second.string();
  };
  std::string ids;
  for (const auto& each : request.containers)
    ids += " " + each.id;
  note(fmt::format("resize {} (was {}):{}", cpu(request.pod), cpu(request.before), ids));
  std::unique_lock lock{mutex_};
  const auto error = resize_error_;
  lock.unlock();
  if (error) return done(tl::make_unexpected(*error));
  done({});
}

void fake_runtime::remove_container(const std::string& id) {
  note("remove " + id);
}

void fake_runtime::run_command(const std::string&, std::vector<std::string>, runtime::duration,
                               runtime_answer<command_result> done) {
  done(tl::make_unexpected(runtime_error{runtime_error::kind::unsupported, "not in a test"}));
}

void fake_runtime::free_disk(node_disk of, std::function<void()> done) {
  note(of == node_disk::images ? "free disk of images" : "free disk");
  done();
}

void fake_runtime::pull_image(image_request request, std::function<void()> pulling,
                              runtime_answer<available_image> done) {
  std::unique_lock lock{mutex_};
  auto call = "pull " + request.spec->image();
  for (const auto& secret : request.secrets)
    call += " with " + secret->meta().name();
  calls_.push_back(std::move(call));
  const auto answer = [error = pull_error_, pull = pull_, done, pulling,
                       ref = "sha256:" + request.spec->image()] {
    if (pull) pulling();
    if (error) return done(tl::make_unexpected(*error));
    done(available_image{ref, pull});
  };
  if (hold_pulls_) return held_.push_back(answer);
  lock.unlock();
  answer();
}

void fake_runtime::read_layers(const std::string& pod_uid,
                               std::function<void(std::vector<layer_usage>)> done) {
  std::unique_lock lock{mutex_};
  auto layers = layers_;
  lock.unlock();
  std::erase_if(layers,
                [&](const auto& layer) { return !pod_uid.empty() && layer.pod_uid != pod_uid; });
  done(std::move(layers));
}

std::unique_ptr<log_stream> fake_runtime::open_log(const log_address&, log_query) {
  return nullptr;
}

void fake_runtime::open_exec(const std::string& id, exec_request request,
                             runtime_answer<std::unique_ptr<exec_stream>> done) {
  streams_.open_exec(id, std::move(request), std::move(done));
}

void fake_runtime::attach(const std::string& id, exec_request request,
                          runtime_answer<std::unique_ptr<exec_stream>> done) {
  streams_.attach(id, std::move(request), std::move(done));
}

void fake_runtime::forward_port(const std::string& pod_uid, int port,
                                runtime_answer<std::unique_ptr<port_stream>> done) {
  streams_.forward_port(pod_uid, port, std::move(done));
}

}  // namespace troupe::test
