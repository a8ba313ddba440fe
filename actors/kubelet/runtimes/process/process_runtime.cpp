#include "actors/kubelet/runtimes/process/process_runtime.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/logs/log_file_stream.hpp"
#include "actors/kubelet/os/port_connection.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/runtimes/process/command_stream.hpp"
#include "actors/kubelet/runtimes/process/container_usage.hpp"
#include "actors/kubelet/runtimes/process/defaults.hpp"
#include "actors/kubelet/runtimes/process/streams/attach_client.hpp"
#include "actors/kubelet/runtimes/process/unsupported.hpp"
#include "actors/kubelet/security/process_identity.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

namespace {

using error_kind = runtime_error::kind;

process_runtime_options complete(process_runtime_options options) {
  if (options.program.empty()) options.program = own_program();
  if (options.boot_id.empty()) {
    std::ifstream file{"/proc/sys/kernel/random/boot_id"};
    std::getline(file, options.boot_id);
  }
  return options;
}

resolver_config read_resolvers() {
  std::ifstream file{"/etc/resolv.conf"};
  return parse_resolv_conf(std::string{std::istreambuf_iterator<char>{file}, {}});
}

process_machine machine_of(const process_runtime_options& options) {
  auto rights = options.rights ? *options.rights : read_rights();
  const bool may_mount = options.may_mount && rights.has("SYS_ADMIN");
  return {.rights = std::move(rights),
          .mounts_volumes = may_mount,
          .hidden = options.hidden,
          .pod_pids_limit = options.pod_pids_limit,
          .log = options.log,
          .resolver = read_resolvers(),
          .cluster = options.cluster};
}

std::string sandbox_of(const std::string& pod_uid, const std::string& boot_id) {
  return boot_id.empty() ? std::string{} : pod_uid + "@" + boot_id;
}

runtime_error no_container(const std::string& id) {
  return {error_kind::not_found, fmt::format("there is no container \"{}\"", id)};
}

// Returns nothing while the container runs.
std::optional<int> code_of_end(const container_dir& dir) try {
  constexpr int killed = 128 + SIGKILL;
  if (const auto exit = dir.exit()) return exit->code;
  return dir.is_running() ? std::nullopt : std::optional{killed};
} catch (const std::system_error&) {
  return std::nullopt;
}

}  // namespace

process_runtime::process_runtime(process_runtime_options options)
    : options_{complete(std::move(options))},
      machine_{machine_of(options_)},
      features_{
          .name = "process", .version = "process://1", .mounts_volumes = machine_.mounts_volumes},
      loop_{std::make_shared<event_loop>()},
      logs_{std::make_shared<lazy_pool>("logs", kubelet_defaults::log_threads,
                                        kubelet_defaults::log_queue)},
      processes_{options_.program, options_.jobs, loop_} {
  if (machine_.rights.confined_by == confinement::none)
    log().warn(
        "kubelet: this node may make no mount namespaces: containers that would run as root or as "
        "its own user are refused (docs/security.md)");
}

process_runtime::~process_runtime() = default;

std::vector<std::string> process_runtime::unsupported_fields(const api::core::v1::Pod& pod) const {
  const bool own_resolver = machine_.mounts_volumes && !machine_.cluster.address.empty();
  return unsupported_features(pod, processes_.groups().keeps_limits(), own_resolver);
}

std::optional<container_dir> process_runtime::dir_of(const std::string& id) const {
  const auto parsed = parse_container_id(id);
  if (!parsed) return std::nullopt;
  return container_dir{
      attempt_path(pod_path(options_.root_dir, parsed->pod_uid), parsed->name, parsed->attempt)};
}

// -- pods -----------------------------------------------------------------------------------------

void process_runtime::list_pods(std::function<void(std::vector<std::string>)> done) {
  const auto look = [root = options_.root_dir, done] { done(pods_on_disk(root)); };
  if (!options_.jobs->post(look))
    loop_->after(kubelet_defaults::recheck_delay, [this, done] { list_pods(done); });
}

void process_runtime::list(const std::string& pod_uid, std::function<void(found_pod)> done) {
  processes_.survey(
      pod_path(options_.root_dir, pod_uid),
      [pod_uid, boot_id = options_.boot_id, done](std::vector<container_processes::found> all) {
        found_pod pod;
        const auto id_of = [&](const auto& found, int attempt) {
          return process_container_id{pod_uid, found.container, attempt}.text();
        };
        for (auto& found : all) {
          if (found.boot_id == boot_id) pod.sandbox = {sandbox_of(pod_uid, boot_id)};
          pod.containers.push_back({.id = id_of(found, found.attempt),
                                    .name = found.container,
                                    .attempt = found.attempt,
                                    .sandbox = sandbox_of(pod_uid, found.boot_id),
                                    .image = std::move(found.image),
                                    .before = std::move(found.before),
                                    .before_id = id_of(found, found.attempt - 1)});
        }
        done(std::move(pod));
      });
}

void process_runtime::run_sandbox(sandbox_config config, sandbox_observer observer) {
  observer(sandbox_status{sandbox_of(config.pod->meta().uid(), options_.boot_id)});
}

// A sandbox lasts as long as the boot of the machine, so there is nothing to observe.
void process_runtime::follow_sandbox(const std::string&, sandbox_observer) {}

void process_runtime::remove_pod(const std::string& pod_uid, problem_observer done) {
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(created_, [&](const auto& each) {
      return parse_container_id(each.first)->pod_uid == pod_uid;
    });
  }
  const auto remove = [dir = pod_path(options_.root_dir, pod_uid), done] {
    remove_containers(dir);
    done({});
  };
  if (!options_.jobs->post(pod_uid, remove))
    loop_->after(kubelet_defaults::recheck_delay,
                 [this, pod_uid, done] { remove_pod(pod_uid, done); });
}

void process_runtime::limit_pods(const pods_limits& limits) {
  resource_limits all{.requested_milli_cpu = limits.milli_cpu};
  if (limits.memory_bytes > 0) all.memory_bytes = limits.memory_bytes;
  const bool posted = options_.jobs->post([all] {
    for (const auto& refused : cgroup_tree::find().make({}, all))
      log().warn("kubelet: limits of all pods together are not set: {}", refused);
  });
  if (!posted) log().warn("kubelet: too many jobs wait: pods together have no limit");
}

// -- containers -----------------------------------------------------------------------------------

// Kept in memory: the next node process does not need containers that were never started.
void process_runtime::create_container(container_config config, runtime_answer<std::string> done) {
  auto spec = process_spec(config, machine_);
  if (!spec) return done(tl::make_unexpected(spec.error()));
  const auto& uid = config.pod->meta().uid();
  const auto& name = config.spec->name();
  spec->boot_id = options_.boot_id;
  spec->log_file = log_path(options_.root_dir, uid, name, config.attempt);
  auto id = process_container_id{uid, name, config.attempt}.text();
  {
    const std::lock_guard lock{mutex_};
    created_[id] = std::move(*spec);
  }
  done(std::move(id));
}

void process_runtime::start_container(const std::string& id, container_observer observer) {
  std::unique_lock lock{mutex_};
  auto spec = created_.extract(id);
  lock.unlock();
  if (spec.empty()) {
    const auto now = wall_ms();
    return observer(container_exit{
        .code = 128, .started_ms = now, .finished_ms = now, .error = no_container(id).message});
  }
  processes_.start(*dir_of(id), std::move(spec.mapped()), std::move(observer));
}

void process_runtime::follow_container(const std::string& id, container_observer observer) {
  if (auto dir = dir_of(id))
    processes_.follow(std::move(*dir), options_.boot_id, std::move(observer));
}

void process_runtime::stop_container(const std::string& id, runtime::duration grace,
                                     problem_observer) {
  if (auto dir = dir_of(id)) processes_.stop(std::move(*dir), grace <= runtime::duration{0});
}

std::string process_runtime::resize_problem() const {
  const auto& groups = processes_.groups();
  return groups.keeps_limits() ? std::string{}
                               : "no control groups enforce limits: " + groups.about();
}

// Only containers are resized: the pod's group has no limits of cpu and memory.
void process_runtime::resize(resize_request request, runtime_answer<void> done) {
  const auto failed = [done](std::string problem) {
    done(tl::make_unexpected(runtime_error{error_kind::failed, std::move(problem)}));
  };
  const auto& pod = request.pod->as<api::core::v1::Pod>();
  std::vector<std::pair<std::string, resource_limits>> changes;  // by group
  for (const auto& container : request.containers) {
    const auto dir = dir_of(container.id);
    if (!dir) return failed(no_container(container.id).message);
    changes.emplace_back(dir->group(), limits_of(*container_named(pod, container.name)));
  }
  const auto set = [groups = processes_.groups(), changes = std::move(changes), done, failed] {
    for (const auto& [group, limits] : changes)
      if (const auto refused = groups.change(group, limits); !refused.empty())
        return failed(refused.front());
    done({});
  };
  if (!options_.jobs->post(request.pod->meta().uid(), set)) failed("too many jobs wait");
}

void process_runtime::remove_container(const std::string& id) {
  const std::lock_guard lock{mutex_};
  created_.erase(id);
}

void process_runtime::start_command(const std::string& id, exec_request request,
                                    std::function<void(runtime_result<exec_process>)> done) {
  const auto failed = [](error_kind kind, std::string message) {
    return tl::make_unexpected(runtime_error{kind, std::move(message)});
  };
  auto dir = dir_of(id);
  if (!dir) return done(tl::make_unexpected(no_container(id)));
  const auto start = [program = options_.program, dir = std::move(*dir),
                      request = std::move(request), done, failed] {
    auto process = exec_process::start(program, dir, request);
    if (!process) return done(failed(error_kind::failed, process.error()));
    done(std::move(*process));
  };
  if (!options_.jobs->post(start)) done(failed(error_kind::failed, "too many commands are queued"));
}

void process_runtime::run_command(const std::string& id, std::vector<std::string> command,
                                  runtime::duration timeout, runtime_answer<command_result> done) {
  start_command(id, {std::move(command)},
                [loop = loop_, timeout, done](runtime_result<exec_process> process) {
                  if (!process) return done(tl::make_unexpected(process.error()));
                  await_command(loop, std::move(*process), timeout, done);
                });
}

// -- usage ----------------------------------------------------------------------------------------

void process_runtime::read_usage(std::function<void(std::vector<container_counters>)> done) {
  const auto measure = [root = options_.root_dir, groups = processes_.groups(), done] {
    try {
      done(measure_containers(root, groups));
    } catch (const std::system_error& e) {
      log().warn("kubelet: cannot read the usage of containers: {}", e.what());
      done({});
    }
  };
  if (!options_.jobs->post(measure)) done({});
}

void process_runtime::count_processes(std::vector<api::object_ptr> pods,
                                      std::function<void(std::vector<std::int64_t>)> done) {
  const auto count = [pods = std::move(pods), groups = processes_.groups(), done] {
    std::vector<std::int64_t> all;
    for (const auto& each : pods)
      all.push_back(groups.processes(each->meta().uid()));
    done(std::move(all));
  };
  if (!options_.jobs->post(count)) done({});
}

// -- images and streams ---------------------------------------------------------------------------

void process_runtime::pull_image(image_request request, std::function<void()>,
                                 runtime_answer<available_image> done) {
  if (auto error = needs_image(*request.spec)) return done(tl::make_unexpected(std::move(*error)));
  done(available_image{});
}

std::unique_ptr<log_stream> process_runtime::open_log(const log_address& from, log_query query) {
  const auto id = parse_container_id(from.id);
  std::string file;  // empty if the id is not of that container
  if (id && id->pod_uid == from.pod_uid && id->name == from.container)
    file = log_path(options_.root_dir, id->pod_uid, id->name, id->attempt);
  return std::make_unique<log_file_stream>(std::move(file), std::move(query), logs_);
}

void process_runtime::open_exec(const std::string& id, exec_request request,
                                runtime_answer<std::unique_ptr<exec_stream>> done) {
  start_command(id, std::move(request), [loop = loop_, done](runtime_result<exec_process> process) {
    if (!process) return done(tl::make_unexpected(process.error()));
    done(stream_command(loop, std::move(*process)));
  });
}

void process_runtime::find_running(
    const std::string& pod_uid, std::function<void(std::vector<container_processes::found>)> done) {
  processes_.survey(pod_path(options_.root_dir, pod_uid),
                    [done](std::vector<container_processes::found> all) {
                      std::erase_if(all, [](const auto& each) { return !each.dir.is_running(); });
                      done(std::move(all));
                    });
}

void process_runtime::attach(const std::string& id, exec_request request,
                             runtime_answer<std::unique_ptr<exec_stream>> done) {
  const auto wanted = parse_container_id(id);
  if (!wanted) return done(tl::make_unexpected(no_container(id)));
  find_running(wanted->pod_uid, [loop = loop_, wanted = *wanted, request = std::move(request),
                                 done](const auto& running) {
    const auto found = std::find_if(running.begin(), running.end(), [&](const auto& each) {
      return each.container == wanted.name && each.attempt == wanted.attempt;
    });
    if (found == running.end())
      return done(tl::make_unexpected(runtime_error{
          error_kind::not_found, fmt::format("container {} is not running", wanted.name)}));
    const auto& dir = found->dir;
    open_attachment(loop, {wanted.name, dir.path(), [dir] { return code_of_end(dir); }}, request,
                    done);
  });
}

void process_runtime::forward_port(const std::string& pod_uid, int port,
                                   runtime_answer<std::unique_ptr<port_stream>> done) {
  const auto failed = [](error_kind kind, std::string message) {
    return tl::make_unexpected(runtime_error{kind, std::move(message)});
  };
  if (port < 1 || port > 65'535)
    return done(failed(error_kind::failed, fmt::format("{} is not a port", port)));
  find_running(pod_uid, [loop = loop_, pod_uid, port, done, failed](const auto& running) {
    if (running.empty())
      return done(failed(error_kind::not_found,
                         fmt::format("no container of pod \"{}\" is running", pod_uid)));
    connect_port(loop, port, process_defaults::port_patience, [=](auto connected) {
      if (connected) return done(std::move(*connected));
      // In containerd's words.
      done(failed(error_kind::failed,
                  fmt::format("failed to connect to localhost:{} inside namespace \"{}\", {}", port,
                              pod_uid, connected.error())));
    });
  });
}

}  // namespace troupe::actors
