#include "tools/node/link_service.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/link/node_links.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

// The actor that sees the first reason for a link starts the thread.
struct link_service::shared {
  shared(actors::control_plane& plane, link_service_options options)
      : acceptor{plane.links().acceptor()}, options{std::move(options)} {}

  void run() {
    std::unique_lock lock{mutex};
    while (!ending && !listener) {
      lock.unlock();
      auto started = start_listener();
      if (started) {
        spdlog::info("listening for joined nodes at {}:{}", (*started)->address().host,
                     (*started)->address().port);
        if (options.listening) options.listening((*started)->address());
      } else {
        spdlog::error("cannot listen for joined nodes: {}", started.error());
      }
      lock.lock();
      if (started) listener = std::move(*started);
      if (!listener) changed.wait_for(lock, defaults::link_retry, [this] { return ending; });
    }
  }

  // The library throws if it cannot start its threads.
  tl::expected<std::unique_ptr<runtime::link::listener>, std::string> start_listener() const try {
    return runtime::link::listener::start({.listen = options.listen,
                                           .credentials = options.credentials,
                                           .accept = acceptor,
                                           .refused = options.refused});
  } catch (const std::exception& e) {
    return tl::make_unexpected(std::string{e.what()});
  }

  const runtime::link::acceptor acceptor;
  const link_service_options options;
  std::mutex mutex;
  std::condition_variable changed;
  bool ending = false, without_thread = false;
  std::unique_ptr<runtime::link::listener> listener;
  std::thread thread;
};

link_service::link_service(actors::control_plane& plane, link_service_options options)
    : state_{std::make_shared<shared>(plane, std::move(options))} {
  plane.links().await_nodes([state = std::weak_ptr{state_}] {
    const auto service = state.lock();
    if (!service) return true;
    std::lock_guard lock{service->mutex};
    if (service->ending) return true;
    try {
      service->thread = std::thread{[state = service.get()] { state->run(); }};
    } catch (const std::system_error& e) {
      if (!std::exchange(service->without_thread, true))
        spdlog::error("cannot listen for joined nodes: no thread: {}; tried again each second",
                      e.what());
      return false;
    }
    return true;
  });
}

link_service::~link_service() {
  {
    std::lock_guard lock{state_->mutex};
    state_->ending = true;
    state_->changed.notify_all();
  }
  if (state_->thread.joinable()) state_->thread.join();
  state_->listener.reset();
}

runtime::link::listener_stats link_service::stats() const {
  const std::lock_guard lock{state_->mutex};
  return state_->listener ? state_->listener->stats() : runtime::link::listener_stats{};
}

// -- consoles -------------------------------------------------------------------------------------

namespace {

using api::core::v1::Node;

server::console_answer unlinked_failure(const persistence::store& store, const std::string& node,
                                        const std::string& reason) {
  const auto found = store.read().find(api::kind_of<Node>().key({}, node));
  if (found && actors::has_joined(*found)) return server::console_failure(503, reason);
  return server::console_failure(
      404, fmt::format("no node {} has joined, so there is no link to it", node));
}

}  // namespace

void linked_consoles::ask(const std::string& node, server::console_question question,
                          std::chrono::milliseconds deadline, std::size_t limit_bytes,
                          answered done) {
  const auto& links = plane_.links();
  plane_.system().request<actors::console_view>(
      links.actor(),
      actors::ask_console{node,
                          {std::move(question.target), question.changes, std::move(question.user)}},
      deadline, [&store = plane_.store(), node, limit_bytes, done = std::move(done)](auto reply) {
        if (!reply)
          return done(server::console_failure(
              504, fmt::format("node {} did not answer in time: its link may be down", node)));
        const auto& view = **reply;
        if (view.status == 0) return done(unlinked_failure(store, node, view.body));
        if (view.body.size() > limit_bytes)
          return done(server::console_failure(
              413, fmt::format("the response of node {} is longer than {} bytes: request less",
                               node, limit_bytes)));
        done({view.status, view.body, view.total});
      });
}

std::vector<server::node_link> linked_consoles::links() const {
  std::unordered_map<std::string, actors::linked_node> connected;
  for (auto& each : plane_.links().table().list())
    connected.emplace(each.node, each);
  std::vector<server::node_link> rows;
  const auto now = plane_.system().time().now();
  const auto prefix = api::kind_of<Node>().prefix();
  plane_.store().read().scan(prefix, {}, [&](std::string_view, const api::object_ptr& object) {
    const auto& meta = object->meta();
    if (!actors::has_joined(*object) || meta.name() == own_) return true;
    server::node_link row;
    row.node = meta.name();
    if (const auto found = connected.find(meta.name()); found != connected.end()) {
      const auto& [node, peer, stats] = found->second;
      row.peer = peer.address;
      row.connected = true;
      row.age = now - stats.since;
      row.messages_in = stats.frames_received;
      row.messages_out = stats.frames_sent;
      row.bytes_in = stats.bytes_received;
      row.bytes_out = stats.bytes_sent;
      row.queued_bytes = stats.outbox_bytes;
    }
    rows.push_back(std::move(row));
    return true;
  });
  return rows;
}

}  // namespace troupe::tools
