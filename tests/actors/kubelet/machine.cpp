#include "actors/kubelet/machine.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <stdexcept>

#include "actors/core/informer.hpp"
#include "actors/kubelet/runtimes/process/container_files.hpp"
#include "actors/kubelet/runtimes/process/process_runtime.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/meta_object.pb.h"
#include "build_paths.hpp"

namespace troupe::test {

using api::core::v1::Event;
using api::core::v1::Pod;
using api::core::v1::PodStatus;
using namespace std::chrono_literals;

namespace {

constexpr const char* node = "here";

void require(bool holds, const std::string& message) {
  if (!holds) throw std::runtime_error{message};
}

// Its stream has a higher id than any former one.
class newest_stream : public actors::informer {
 public:
  newest_stream(runtime::actor_ref watcher, std::shared_ptr<std::atomic<std::uint64_t>> id)
      : informer{std::move(watcher)}, id_{std::move(id)} {}
  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&newest_stream::on_watch_events, &newest_stream::on_watch_ended);
    return table;
  }
  void started() override {
    follow(api::kind_of<Pod>().prefix(), [this](const actors::watch_events& m) { *id_ = m.id; });
  }

 private:
  std::shared_ptr<std::atomic<std::uint64_t>> id_;
};

}  // namespace

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

machine::machine() : root_{folder_.path() / "kubelet"} {
  auto opened = persistence::store::open({});
  require(opened.has_value(), "the store opens");
  store_ = std::move(*opened);
  system_ = std::make_unique<runtime::actor_system>();
  plane_ = std::make_unique<actors::control_plane>(
      *system_, *store_, actors::control_plane_options{.controllers = false});
  create("apiVersion: v1\nkind: Namespace\nmetadata: {name: default}");
}

machine::~machine() {
  // The pods end as if their objects were removed; their directories are removed last.
  for (const auto& pod : list(api::kind_of<Pod>().prefix())) {
    persistence::transaction transaction;
    const auto key = pod->kind().key(pod->meta().namespace_(), pod->meta().name());
    transaction.preconditions.push_back({key, pod->revision()});
    transaction.mutations.push_back({key, &pod->kind(), nullptr});
    plane_->commit(std::move(transaction), 0, [](const persistence::outcome&) {});
  }
  wait([&] {
    std::error_code problem;
    return !std::filesystem::exists(root_) || std::filesystem::is_empty(root_ / "pods", problem);
  });
  stop_kubelet();
  plane_.reset();
  system_.reset();
}

bool machine::wait(const std::function<bool()>& done, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock guard{mutex};
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    never.wait_for(guard, 2ms);
  }
  return true;
}

// -- as a client ----------------------------------------------------------------------------------

api::object_ptr machine::commit(persistence::transaction transaction) {
  std::promise<api::object_ptr> answer;
  transaction.cause.author = "test";
  plane_->commit(std::move(transaction), request, [&](const persistence::outcome& outcome) {
    answer.set_value(outcome ? outcome->objects.front() : nullptr);
  });
  return answer.get_future().get();
}

std::vector<persistence::change> machine::changes(const std::string& pod) const {
  auto all = store_->changes(0, 10'000);
  require(all.has_value(), "the log cannot be read");
  std::erase_if(*all, [key = api::kind_of<Pod>().key("default", pod)](const auto& each) {
    return each.key != key;
  });
  return std::move(*all);
}

api::object_ptr machine::create(std::string_view yaml) {
  auto decoded = api::decode(yaml, api::media::yaml, nullptr);
  require(decoded.has_value(), decoded ? "" : decoded.error().message);
  auto& meta = api::meta_of(*decoded->content);
  if (decoded->kind->namespaced()) meta.set_namespace_("default");
  if (decoded->kind == &api::kind_of<Pod>())
    static_cast<Pod&>(*decoded->content).mutable_spec()->set_node_name(node);
  const auto now =
      std::chrono::time_point_cast<runtime::duration>(std::chrono::system_clock::now());
  auto transaction =
      actors::create_transaction(store_->read(), *decoded->kind, std::move(decoded->content),
                                 actors::checks::done_before, now, random_);
  require(transaction.has_value(), transaction ? "" : transaction.error().message);
  auto made = commit(std::move(*transaction));
  require(made != nullptr, "the object is created");
  return made;
}

api::object_ptr machine::change_key(const std::string& key,
                                    const std::function<void(api::body&)>& edit) {
  api::object_ptr made;
  const bool done = wait([&] {
    const auto old = store_->read().find(key);
    require(old != nullptr, "the object exists");
    auto content = old->copy();
    edit(*content);
    return (made = commit(actors::succeed(*old, std::move(content)))) != nullptr;
  });
  require(done, "the object is changed");
  return made;
}

void machine::remove(const std::string& pod, std::int64_t grace_seconds) {
  const auto key = api::kind_of<Pod>().key("default", pod);
  const bool done = wait([&] {
    const auto now =
        std::chrono::time_point_cast<runtime::duration>(std::chrono::system_clock::now());
    auto plan =
        actors::plan_remove(store_->read(), {.key = key, .grace_seconds = grace_seconds}, now);
    if (!plan || plan->transaction.mutations.empty()) return true;
    return commit(std::move(plan->transaction)) != nullptr;
  });
  require(done, "the pod is removed");
}

// -- looking --------------------------------------------------------------------------------------

api::object_ptr machine::node_object() const {
  return store_->read().find(api::kind_of<api::core::v1::Node>().key({}, node));
}

api::object_ptr machine::volume(const std::string& name) const {
  return store_->read().find(api::kind_of<api::core::v1::PersistentVolume>().key({}, name));
}

api::object_ptr machine::find(const std::string& pod) const {
  return store_->read().find(api::kind_of<Pod>().key("default", pod));
}

PodStatus machine::status(const std::string& pod) const {
  const auto found = find(pod);
  return found ? found->as<Pod>().status() : PodStatus{};
}

std::vector<api::object_ptr> machine::list(const std::string& prefix) const {
  std::vector<api::object_ptr> all;
  store_->read().scan(prefix, {}, [&](std::string_view, const api::object_ptr& found) {
    all.push_back(found);
    return true;
  });
  return all;
}

std::vector<std::string> machine::events(const std::string& pod, const std::string& reason) const {
  std::vector<std::string> messages;
  for (const auto& object : list(api::kind_of<Event>().prefix())) {
    const auto& event = object->as<Event>();
    if (event.involved_object().name() == pod && event.reason() == reason)
      messages.insert(messages.end(), static_cast<std::size_t>(std::max(event.count(), 1)),
                      event.message());
  }
  return messages;
}

bool machine::runs(const std::string& pod, bool ready) const {
  const auto seen = status(pod);
  return seen.phase() == "Running" && seen.container_statuses_size() > 0 &&
         seen.container_statuses(0).state().has_running() &&
         seen.container_statuses(0).ready() == ready;
}

bool machine::ended(const std::string& pod) const {
  const auto phase = status(pod).phase();
  return phase == "Succeeded" || phase == "Failed";
}

std::filesystem::path machine::pod_dir(const std::string& pod) const {
  return actors::pod_path(root_, find(pod)->meta().uid());
}

std::string machine::log(const std::string& pod, const std::string& container, int attempt) const {
  const auto found = find(pod);
  if (!found) return {};
  std::ifstream in{actors::log_path(root_, found->meta().uid(), container, attempt)};
  std::string text;
  for (std::string line; std::getline(in, line);) {
    for (int i = 0; i < 3; ++i)
      line.erase(0, line.find(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// -- the kubelet ----------------------------------------------------------------------------------

void machine::start_kubelet() {
  actors::kubelet_options options;
  options.node = node;
  options.root_dir = root_;
  options.hidden = {root_.string()};
  if (adjust) adjust(options);
  options.jobs = actors::make_kubelet_jobs();
  options.containers = containers;
  if (!containers)
    options.containers = std::make_shared<actors::process_runtime>(
        actors::process_runtime_options{.root_dir = root_,
                                        .jobs = options.jobs,
                                        .program = TROUPE_BINARY_DIR "/container_shim",
                                        .hidden = options.hidden,
                                        .may_mount = options.may_mount,
                                        .boot_id = boot_id});
  const auto made = actors::make_root(options.root_dir);
  require(made.has_value(), made ? "" : made.error());
  actors::spawn_kubelet(*system_, plane_->core_actors(), std::move(options));
}

void machine::stop_kubelet() {
  const auto found = system_->actors().find("kubelet", node);
  if (!found) return;
  system_->stop(found);
  wait([&] {
    bool any = false;
    system_->actors().each([&](const runtime::actor_info& info) {
      any |= info.kind == "kubelet" || info.kind == "pod-worker" || info.kind == "references" ||
             info.kind == "prober";
    });
    return !any;
  });
}

void machine::crash_kubelet(const std::function<void()>& before_it,
                            const std::function<void()>& after_it) {
  const auto kubelet = system_->actors().find("kubelet", node);
  const auto restarts = [&] { return system_->actors().find(kubelet.id())->restarts; };
  const auto before = restarts();
  const auto newest = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto other =
      system_->spawn({.kind = "test", .name = "newest-stream"},
                     runtime::make<newest_stream>(plane_->core_actors().watcher, newest));
  require(wait([&] { return *newest != 0; }), "there is a stream");
  system_->stop(other);
  if (before_it) {
    const auto waiting = [&] { return system_->actors().find(kubelet.id())->mailbox; };
    system_->pause(kubelet, 5min);
    const auto had = waiting();
    before_it();
    require(wait([&] { return waiting() > had; }), "the kubelet is told");
  }
  if (after_it) system_->pause(kubelet, 5min);
  // The actor cannot continue after the loss of one of its own streams.
  for (std::uint64_t id = *newest; id + 30 > *newest && restarts() == before; --id)
    kubelet.tell(actors::watch_ended{id, {persistence::errc::compacted, "history is gone"}});
  if (after_it) after_it();
  system_->resume(kubelet);
  require(wait([&] { return restarts() > before; }), "the kubelet has crashed");
}

}  // namespace troupe::test
