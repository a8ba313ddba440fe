#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "actors/core/log.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/runtimes/cri/cri_log_stream.hpp"
#include "actors/kubelet/runtimes/cri/leftover_sandboxes.hpp"
#include "actors/kubelet/runtimes/cri/pod_files_of_cri.hpp"
#include "actors/kubelet/runtimes/cri/pod_groups.hpp"
#include "actors/kubelet/volumes/volume_content.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::core::v1::Pod;

namespace {

using error_kind = runtime_error::kind;

cri_node node_of(const cri_runtime_options& options) {
  return {.root_dir = options.root_dir,
          .dns = {},
          .dns_address = options.dns_address,
          .dns_domain = options.dns_domain,
          .memory_bytes = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE)};
}

cri_result<cri::VersionResponse> ask_version(cri_client& client) {
  return wait_for<cri::VersionResponse>(client, "Version", cri::VersionRequest{},
                                        cri_defaults::version_timeout);
}

std::string label(const google::protobuf::Map<std::string, std::string>& labels, const char* name) {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string{} : found->second;
}

}  // namespace

std::optional<std::string> socket_path(std::string_view endpoint) {
  constexpr std::string_view scheme = "unix://";
  if (endpoint.starts_with(scheme)) endpoint.remove_prefix(scheme.size());
  if (!endpoint.starts_with('/')) return std::nullopt;
  return std::string{endpoint};
}

tl::expected<std::string, std::string> ask_runtime_version(const std::string& socket) {
  const auto loop = std::make_shared<event_loop>();
  const auto answer = [&] {
    cri_client client{loop, socket};
    return ask_version(client);
  }();
  loop->stop();
  if (!answer) return tl::make_unexpected(answer.error().message);
  return answer->runtime_name() + " " + answer->runtime_version();
}

tl::expected<std::string, std::string> ask_cni_folder(const std::string& socket) {
  const auto loop = std::make_shared<event_loop>();
  cri::StatusRequest request;
  request.set_verbose(true);
  const auto answer = [&] {
    cri_client client{loop, socket};
    return wait_for<cri::StatusResponse>(client, "Status", request, cri_defaults::version_timeout);
  }();
  loop->stop();
  if (!answer) return tl::make_unexpected(answer.error().message);
  return cni_folder_of(*answer);
}

cri_runtime::cri_runtime(cri_runtime_options options)
    : options_{std::move(options)},
      node_{node_of(options_)},
      loop_{std::make_shared<event_loop>()},
      client_{std::make_shared<cri_client>(loop_, options_.socket)},
      logs_{std::make_shared<lazy_pool>("logs", kubelet_defaults::log_threads,
                                        kubelet_defaults::log_queue)},
      features_{.name = "containerd",
                .version = unknown_version,
                .own_network = true,
                .ephemeral_containers = true},
      images_{client_},
      collector_{loop_,
                 client_,
                 jobs_,
                 node_.root_dir,
                 options_.images,
                 [this](std::string problem) {
                   const std::lock_guard lock{mutex_};
                   image_problem_ = std::move(problem);
                 }},
      watcher_{loop_, client_, jobs_, options_.log},
      jobs_{"cri", cri_defaults::job_threads, kubelet_defaults::runtime_queue} {
  if (const auto version = ask_version(*client_)) {
    take_version(*version);
    cri::StatusRequest verbose;
    verbose.set_verbose(true);
    if (const auto status = wait_for<cri::StatusResponse>(*client_, "Status", verbose,
                                                          cri_defaults::version_timeout)) {
      take_features(*status);
      take_config(*status,
                  wait_for<cri::RuntimeConfigResponse>(*client_, "RuntimeConfig", cri::Nothing{},
                                                       cri_defaults::version_timeout));
    }
  } else {
    problem_ = "container runtime is down: " + version.error().message;
    log().warn("kubelet: {}", problem_);
  }
  remember_runtime(options_.root_dir, options_.socket);
  loop_->defer([this] {
    watcher_.start();
    collector_.start();
    check_sandbox_image();
    check_health();
    list_images();
  });
}

cri_runtime::~cri_runtime() {
  loop_->stop();
}

runtime_features cri_runtime::features() const {
  const std::lock_guard lock{mutex_};
  return features_;
}

bool cri_runtime::has_strict_groups() const {
  const std::lock_guard lock{mutex_};
  return strict_groups_;
}

std::string cri_runtime::own_id(const std::string& id) const {
  return features().name + "://" + id;
}

std::string cri_runtime::server_id(const std::string& id) const {
  const auto end = id.find("://");
  return end == id.npos ? id : id.substr(end + 3);
}

std::vector<std::string> cri_runtime::unsupported_fields(const Pod& pod) const {
  auto out = unsupported_sources(pod);
  if (pod.spec().resource_claims_size() != 0) out.push_back("spec.resourceClaims");
  return out;
}

// -- pods -----------------------------------------------------------------------------------------

void cri_runtime::list_pods(std::function<void(std::vector<std::string>)> done) {
  cri::ListPodSandboxRequest request;
  (*request.mutable_filter()->mutable_label_selector())[cri_labels::root_dir] =
      node_.root_dir.string();
  client_->runtime<cri::ListPodSandboxResponse>(
      "ListPodSandbox", request, [this, done](const auto& answer) {
        if (!answer) {
          loop_->after(cri_defaults::ask_again, [this, done] { list_pods(done); });
          return;
        }
        std::vector<std::string> uids;
        for (const auto& each : answer->items())
          uids.push_back(each.metadata().uid());
        std::sort(uids.begin(), uids.end());
        uids.erase(std::unique(uids.begin(), uids.end()), uids.end());
        done(std::move(uids));
      });
}

void cri_runtime::list_sandboxes(const std::string& pod_uid,
                                 std::function<void(cri_result<sandboxes>)> done) {
  cri::ListPodSandboxRequest request;
  auto& labels = *request.mutable_filter()->mutable_label_selector();
  labels[cri_labels::pod_uid] = pod_uid;
  labels[cri_labels::root_dir] = node_.root_dir.string();
  client_->runtime<cri::ListPodSandboxResponse>(
      "ListPodSandbox", request, [done](const auto& answer) {
        if (!answer) return done(tl::make_unexpected(answer.error()));
        sandboxes all{answer->items().begin(), answer->items().end()};
        std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
          return a.metadata().attempt() > b.metadata().attempt();
        });
        done(std::move(all));
      });
}

void cri_runtime::list_containers(
    const std::string& pod_uid, std::function<void(cri_result<std::vector<cri::Container>>)> done) {
  cri::ListContainersRequest request;
  (*request.mutable_filter()->mutable_label_selector())[cri_labels::pod_uid] = pod_uid;
  client_->runtime<cri::ListContainersResponse>(
      "ListContainers", request, [done](const auto& answer) {
        if (!answer) return done(tl::make_unexpected(answer.error()));
        done(std::vector<cri::Container>{answer->containers().begin(), answer->containers().end()});
      });
}

// The server's lists contain a sandbox or container only when its creation has been answered.
void cri_runtime::when_created(const std::string& pod_uid, std::function<void()> next) {
  loop_->defer([this, pod_uid, next] {
    if (!creating_.contains(pod_uid)) return next();
    loop_->after(cri_defaults::ask_again, [this, pod_uid, next] { when_created(pod_uid, next); });
  });
}

void cri_runtime::list(const std::string& pod_uid, std::function<void(found_pod)> done) {
  when_created(pod_uid, [this, pod_uid, done] { list_now(pod_uid, done); });
}

void cri_runtime::list_now(const std::string& pod_uid, std::function<void(found_pod)> done) {
  struct answers {
    std::optional<cri_result<sandboxes>> pods;
    std::optional<cri_result<std::vector<cri::Container>>> containers;
  };
  const auto again = [this, pod_uid, done] {
    loop_->after(cri_defaults::ask_again, [this, pod_uid, done] { list(pod_uid, done); });
  };
  const auto both = std::make_shared<answers>();
  const auto take = [this, pod_uid, done, again, both, starting = starting_] {
    if (!both->pods || !both->containers) return;
    if (!*both->pods || !*both->containers) return again();
    const auto& all = **both->containers;
    if (std::any_of(all.begin(), all.end(), [&](const auto& each) {
          return each.state() == cri::CREATED && starting.contains(each.id());
        }))
      return again();
    if ((*both->pods)->empty()) new_pods_.insert(pod_uid);
    describe(pod_uid, **both->pods, all, done);
  };
  list_sandboxes(pod_uid, [both, take](auto pods) {
    both->pods = std::move(pods);
    take();
  });
  list_containers(pod_uid, [both, take](auto containers) {
    both->containers = std::move(containers);
    take();
  });
}

// Collects the newest attempt of each container, and how the previous one ended.
void cri_runtime::describe(const std::string& pod_uid, const sandboxes& pods,
                           const std::vector<cri::Container>& all,
                           std::function<void(found_pod)> done) {
  struct gathering {
    found_pod pod;
    std::size_t open = 1;
    bool again = false;
  };
  auto state = std::make_shared<gathering>();
  const auto one_less = [this, pod_uid, state, done] {
    if (--state->open != 0) return;
    if (!state->again) return done(std::move(state->pod));
    loop_->after(cri_defaults::ask_again, [this, pod_uid, done] { list(pod_uid, done); });
  };
  std::map<std::string, std::map<std::uint32_t, const cri::Container*>> by_name;
  for (const auto& each : all)
    by_name[each.metadata().name()][each.metadata().attempt()] = &each;
  state->pod.containers.reserve(by_name.size());
  for (const auto& [name, attempts] : by_name) {
    const auto newest = attempts.rbegin();
    const auto& container = *newest->second;
    auto& found = state->pod.containers.emplace_back(
        found_container{.id = own_id(container.id()),
                        .name = name,
                        .attempt = static_cast<int>(newest->first),
                        .sandbox = container.pod_sandbox_id(),
                        .image = label(container.annotations(), cri_annotations::image),
                        .image_ref = container.image_ref(),
                        .started = container.state() != cri::CREATED});
    if (attempts.size() < 2) continue;
    const auto before = std::next(newest)->second->id();
    found.before_id = own_id(before);
    ++state->open;
    cri::ContainerStatusRequest ask;
    ask.set_container_id(before);
    client_->runtime<cri::ContainerStatusResponse>(
        "ContainerStatus", ask, [&found, state, one_less](const auto& answer) {
          if (answer && answer->status().state() == cri::EXITED)
            found.before = exit_of(answer->status());
          one_less();
        });
  }
  const auto ready = !pods.empty() && pods.front().state() == cri::SANDBOX_READY;
  if (!ready) return one_less();
  address_of(pods.front().id(), pods.front().metadata().attempt(),
             [state, one_less](const auto& sandbox) {
               if (sandbox) state->pod.sandbox = *sandbox;
               // Unknown does not mean lost: the worker would end its containers. List again.
               state->again = !sandbox && sandbox.error().code != grpc_code::not_found;
               one_less();
             });
}

void cri_runtime::address_of(const std::string& sandbox, std::uint32_t attempt,
                             std::function<void(cri_result<sandbox_status>)> done) {
  cri::PodSandboxStatusRequest ask;
  ask.set_pod_sandbox_id(sandbox);
  client_->runtime<cri::PodSandboxStatusResponse>(
      "PodSandboxStatus", ask, [this, sandbox, attempt, done](const auto& answer) {
        if (!answer) return done(tl::make_unexpected(answer.error()));
        auto& known = sandboxes_[sandbox];
        const auto& network = answer->status().network();
        known = {attempt, {}};
        if (!network.ip().empty()) known.ips.push_back(network.ip());
        for (const auto& each : network.additional_ips())
          known.ips.push_back(each.ip());
        done(sandbox_status{sandbox, known.ips});
      });
}

void cri_runtime::run_sandbox(sandbox_config config, sandbox_observer observer) {
  loop_->defer([this, config, observer] {
    const auto open = creating_.insert(config.pod->meta().uid());
    const auto answer = [this, open, observer,
                         first = std::make_shared<bool>(true)](const sandbox_change& change) {
      loop_->defer([this, open, observer, first, change] {
        if (std::exchange(*first, false)) creating_.erase(open);
        observer(change);
      });
    };
    // A listing of the pod has already shown that it has no sandbox.
    if (new_pods_.erase(config.pod->meta().uid()) != 0) return start_sandbox(config, 0, answer);
    replace_sandbox(config, answer);
  });
}

void cri_runtime::replace_sandbox(const sandbox_config& config, sandbox_observer observer) {
  list_sandboxes(config.pod->meta().uid(), [this, config, observer](const auto& found) {
    if (!found) return observer(sandbox_lost{{error_kind::failed, found.error().message}});
    // Keep the newest sandbox: its ended containers are still needed. One that could not be created
    // has none, but its name stays in use.
    std::vector<std::string> old;
    const auto attempt = found->empty() ? 0 : found->front().metadata().attempt() + 1;
    for (const auto& each : *found)
      if (&each != &found->front()) old.push_back(each.id());
    remove_sandboxes(std::move(old), [this, config, attempt, observer, found = *found](auto) {
      if (found.empty()) return start_sandbox(config, attempt, observer);
      cri::PodSandboxId id;
      id.set_pod_sandbox_id(found.front().id());
      client_->runtime<cri::Nothing>("StopPodSandbox", id,
                                     [this, config, attempt, observer](const auto&) {
                                       start_sandbox(config, attempt, observer);
                                     });
    });
  });
}

void cri_runtime::start_sandbox(const sandbox_config& config, std::uint32_t attempt,
                                sandbox_observer observer) {
  const auto& pod = config.pod;
  if (const auto name = host_name(pod->as<Pod>()); !name)
    return observer(sandbox_lost{{error_kind::failed, name.error()}});
  cri::RunPodSandboxRequest request;
  const auto node = current_node();
  *request.mutable_config() = sandbox_config_of(pod->as<Pod>(), attempt, node);
  request.set_runtime_handler(config.handler);
  const auto lost = [observer](const grpc_error& error) {
    observer(sandbox_lost{{error_kind::failed, text_of(error)}});
  };
  const auto run = [this, request, attempt, observer, lost](const std::string& problem) {
    if (!problem.empty()) return observer(sandbox_lost{{error_kind::failed, problem}});
    client_->runtime<cri::PodSandboxId>(
        "RunPodSandbox", request,
        [this, attempt, observer, lost](const auto& made) {
          if (!made) return lost(made.error());
          const auto& id = made->pod_sandbox_id();
          address_of(id, attempt, [this, id, observer, lost](const auto& status) {
            if (!status) return lost(status.error());
            watcher_.follow_sandbox(id, observer);
            observer(*status);
          });
        },
        cri_defaults::sandbox_timeout);
  };
  auto limits = group_limits_of(pod->as<Pod>());
  if (options_.pod_pids_limit > 0) limits.pids = options_.pod_pids_limit;
  const auto prepare = [pod, limits, driver = node.groups, logs = request.config().log_directory(),
                        run] {
    if (const auto unset = set_pod_group(pod->as<Pod>(), limits, groups_top, driver);
        !unset.empty())
      log().warn("kubelet: limits of pod {} are not set:{}", pod->meta().name(), unset);
    std::error_code problem;
    std::filesystem::create_directories(logs, problem);
    run(problem ? fmt::format("cannot make {}: {}", logs, problem.message()) : std::string{});
  };
  if (!jobs_.post(pod->meta().uid(), prepare)) run("too many jobs wait");
}

void cri_runtime::limit_pods(const pods_limits& limits) {
  {
    const std::lock_guard lock{mutex_};
    all_pods_limits_ = limits;
  }
  const bool posted = jobs_.post([limits, driver = groups()] {
    if (const auto unset = limit_all_pods(limits, groups_top, driver); !unset.empty())
      log().warn("kubelet: limits of all pods together are not set:{}", unset);
  });
  if (!posted) log().warn("kubelet: too many jobs wait: pods together have no limit");
}

void cri_runtime::share_cpu(std::int64_t burstable_milli_cpu) {
  {
    const std::lock_guard lock{mutex_};
    burstable_milli_cpu_ = burstable_milli_cpu;
  }
  const bool posted = jobs_.post(all_pods_group, [burstable_milli_cpu, driver = groups()] {
    const auto unset = share_among_classes(burstable_milli_cpu, groups_top, driver);
    if (!unset.empty()) log().warn("kubelet: shares of the QoS classes are not set:{}", unset);
  });
  if (!posted) log().warn("kubelet: too many jobs wait: shares of the QoS classes are not set");
}

void cri_runtime::follow_sandbox(const std::string& id, sandbox_observer observer) {
  loop_->defer([this, id, observer] {
    watcher_.follow_sandbox(id, observer);
    watcher_.check_container(id);
  });
}

// A sandbox that cannot be removed is in the next list.
void cri_runtime::remove_sandboxes(std::vector<std::string> ids, problem_observer done,
                                   std::string problem) {
  if (ids.empty()) return done(std::move(problem));
  cri::PodSandboxId id;
  id.set_pod_sandbox_id(ids.back());
  ids.pop_back();
  watcher_.forget_sandbox(id.pod_sandbox_id());
  sandboxes_.erase(id.pod_sandbox_id());
  const auto fails = [](const cri_result<cri::Nothing>& step) {
    return !step && step.error().code != grpc_code::not_found;
  };
  const auto next = [this, ids, done, problem, fails](const cri_result<cri::Nothing>& step) {
    remove_sandboxes(ids, done, problem.empty() && fails(step) ? step.error().message : problem);
  };
  client_->runtime<cri::Nothing>("StopPodSandbox", id,
                                 [this, id, next, fails](const auto& stopped) {
                                   if (fails(stopped)) return next(stopped);
                                   client_->runtime<cri::Nothing>("RemovePodSandbox", id, next);
                                 });
}

void cri_runtime::stop_sandboxes(const std::string& pod_uid) {
  when_created(pod_uid, [this, pod_uid] { stop_sandboxes_now(pod_uid); });
}

void cri_runtime::stop_sandboxes_now(const std::string& pod_uid) {
  list_sandboxes(pod_uid, [this, pod_uid](const auto& found) {
    const auto again = [this, pod_uid] {
      loop_->after(cri_defaults::ask_again, [this, pod_uid] { stop_sandboxes(pod_uid); });
    };
    if (!found) return again();
    // One list follows, however many fail.
    const auto repeats = std::make_shared<bool>(false);
    // Also one that is not ready: it keeps its address until it is stopped.
    for (const auto& each : *found) {
      cri::PodSandboxId id;
      id.set_pod_sandbox_id(each.id());
      watcher_.forget_sandbox(each.id());
      client_->runtime<cri::Nothing>("StopPodSandbox", id, [again, repeats](const auto& stopped) {
        const bool failed = !stopped && stopped.error().code != grpc_code::not_found;
        if (failed && !std::exchange(*repeats, true)) again();
      });
    }
  });
}

void cri_runtime::remove_pod(const std::string& pod_uid, problem_observer done) {
  when_created(pod_uid, [this, pod_uid, done] { remove_pod_now(pod_uid, done); });
}

void cri_runtime::remove_pod_now(const std::string& pod_uid, problem_observer done) {
  list_sandboxes(pod_uid, [this, pod_uid, done](const auto& found) {
    if (!found) {
      loop_->after(cri_defaults::ask_again, [this, pod_uid, done] { remove_pod(pod_uid, done); });
      return;
    }
    new_pods_.erase(pod_uid);
    std::vector<std::string> ids;
    for (const auto& each : *found)
      ids.push_back(each.id());
    remove_sandboxes(std::move(ids), [this, pod_uid, done](const std::string& problem) {
      const auto clean = [this, pod_uid, done, problem] {
        remove_container_files(node_, pod_uid);
        remove_pod_groups(pod_uid);
        done(problem);
      };
      if (!jobs_.post(pod_uid, clean)) done(problem);
    });
  });
}

// -- images and logs ------------------------------------------------------------------------------

std::string cri_runtime::image_problem() const {
  const std::lock_guard lock{mutex_};
  return image_problem_;
}

std::filesystem::path cri_runtime::image_directory() const {
  const std::lock_guard lock{mutex_};
  return image_directory_;
}

void cri_runtime::free_disk(node_disk of, std::function<void()> done) {
  loop_->defer([this, of, done = std::move(done)] { collector_.free_disk(of, done); });
}

std::vector<stored_image> cri_runtime::images() const {
  const std::lock_guard lock{mutex_};
  return stored_images_;
}

void cri_runtime::list_images() {
  client_->images<cri::ListImagesResponse>(
      "ListImages", cri::ListImagesRequest{}, [this](const auto& listed) {
        if (listed) {
          const std::lock_guard lock{mutex_};
          stored_images_ = images_to_show(*listed);
        }
        loop_->after(cri_defaults::image_listing, [this] { list_images(); });
      });
  collector_.ask_path([this](const std::string& path) {
    if (path.empty()) return;
    const std::lock_guard lock{mutex_};
    image_directory_ = path;
  });
}

void cri_runtime::pull_image(image_request request, std::function<void()> pulling,
                             runtime_answer<available_image> done) {
  const auto note = [this, done](runtime_result<available_image> image) {
    if (image) collector_.wanted(image->ref);
    done(std::move(image));
  };
  loop_->defer([this, request = std::move(request), pulling = std::move(pulling), note] {
    images_.pull(request, pulling, note);
  });
}

std::unique_ptr<log_stream> cri_runtime::open_log(const log_address& from, log_query query) {
  return std::make_unique<cri_log_stream>(
      log_address{from.pod_uid, from.container, server_id(from.id)}, std::move(query), client_,
      logs_);
}

}  // namespace troupe::actors
