#include "tools/links/other_links.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace troupe::tools {

other_links::other_links(runtime::actor_system& system, std::shared_ptr<server_choice> choice,
                         other_links_options options)
    : system_{system}, choice_{std::move(choice)}, options_{std::move(options)}, thread_{[this] {
        run();
      }} {}

other_links::~other_links() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void other_links::sync() {
  const std::lock_guard lock{mutex_};
  due_ = true;
  changed_.notify_all();
}

void other_links::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return due_ || ending_; });
    if (ending_) break;
    due_ = false;
    lock.unlock();
    sync_links();
    lock.lock();
  }
  lock.unlock();
  links_.clear();
}

void other_links::sync_links() {
  const auto known = choice_->records();
  const auto is_known = [&](const std::string& name) {
    return std::any_of(known.begin(), known.end(),
                       [&](const auto& each) { return each.name == name; });
  };
  for (auto each = links_.begin(); each != links_.end();) {
    if (is_known(each->first)) {
      ++each;
      continue;
    }
    each->second.dialer.reset();
    system_.stop(each->second.gateway);
    each = links_.erase(each);
  }
  for (const auto& each : known)
    if (each.name != options_.except && !links_.contains(each.name)) open(each.name);
}

void other_links::open(const std::string& name) {
  auto answers = options_.answers;
  answers.name = answers.node + "@" + name;
  answers.linked = [name] { spdlog::info("control plane {} has a link to this machine", name); };
  answers.unlinked = {};
  // The node's first link finds out whether it was removed.
  answers.node_removed = {};
  link made;
  made.gateway = actors::spawn_gateway(system_, std::move(answers));
  auto dialer = runtime::link::dialer::start(
      {.to = {},
       .credentials = options_.credentials,
       .accept = actors::gateway_acceptor(made.gateway),
       .failed =
           [name](const std::string& reason) {
             spdlog::debug("no link to control plane {}: {}", name, reason);
           },
       .addresses = [choice = choice_, name] { return choice->addresses_of(name); }});
  if (!dialer) {
    spdlog::warn("control plane {} cannot have a link to this machine: {}", name, dialer.error());
    return system_.stop(made.gateway);
  }
  made.dialer = std::move(*dialer);
  links_.emplace(name, std::move(made));
}

}  // namespace troupe::tools
