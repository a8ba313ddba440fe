// Two sides of a real link on this machine: a control plane that listens, and nodes that call it.
#pragma once

#include <catch2/catch.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "link/authority.hpp"
#include "link/ends.hpp"

namespace troupe::test {

// Accepts every session, and keeps it with its receiver.
class session_log {
 public:
  struct entry {
    link::session_ptr session;
    std::shared_ptr<notebook> notes;
  };

  explicit session_log(bool hold = false) : hold_{hold} {}

  link::acceptor acceptor() {
    return [this](const link::session_ptr& with)
               -> tl::expected<std::shared_ptr<link::receiver>, std::string> {
      auto notes = std::make_shared<notebook>(hold_);
      if (on_session) on_session(with, *notes);
      std::lock_guard lock{mutex_};
      if (!refusal_.empty()) return tl::make_unexpected(refusal_);
      entries_.push_back({with, notes});
      changed_.notify_all();
      return notes;
    };
  }

  // The session with that number, as soon as it exists.
  entry await(std::size_t number = 0, std::chrono::milliseconds limit = patience) {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, limit, [&] { return entries_.size() > number; })) return {};
    return entries_[number];
  }
  std::size_t count() const {
    std::lock_guard lock{mutex_};
    return entries_.size();
  }
  void refuse(std::string reason) {
    std::lock_guard lock{mutex_};
    refusal_ = std::move(reason);
  }

  // Called for each session before it is kept; set it before the first one.
  std::function<void(const link::session_ptr&, notebook&)> on_session;

 private:
  const bool hold_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<entry> entries_;
  std::string refusal_;
};

// Texts that any thread adds and the test waits for.
class failure_log {
 public:
  std::function<void(const std::string&)> callback() {
    return [this](const std::string& reason) {
      std::lock_guard lock{mutex_};
      texts_.push_back(reason);
      changed_.notify_all();
    };
  }
  // The first text.
  std::string await() {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, patience, [&] { return !texts_.empty(); })) return "none";
    return texts_.front();
  }
  // Waits for a text that contains this part.
  bool await(const std::string& part) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, [&] {
      return std::any_of(texts_.begin(), texts_.end(), [&](const std::string& text) {
        return text.find(part) != std::string::npos;
      });
    });
  }
  std::vector<std::string> all() const {
    std::lock_guard lock{mutex_};
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
};

// The refusals that a listener has reported, of connections without a session.
class refusal_notes {
 public:
  void add(const link::refusal& seen) {
    std::lock_guard lock{mutex_};
    all_.push_back(seen);
  }
  std::vector<link::refusal> all() const {
    std::lock_guard lock{mutex_};
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<link::refusal> all_;
};

inline const authority& our_authority() {
  static const authority ours{"the cluster"};
  return ours;
}

inline link::credentials plane_credentials() {
  static const auto made =
      our_authority().issue({"troupe", {}, {"DNS:localhost", "IP:127.0.0.1", "IP:::1"}});
  return made;
}

inline link::credentials node_credentials(const std::string& name = "a") {
  return our_authority().issue({"system:node:" + name, {"system:nodes"}});
}

inline link::credentials_source always(link::credentials credentials) {
  return [credentials = std::move(credentials)] { return credentials; };
}

// The listening side. Its sessions end before it does.
struct plane {
  explicit plane(bool hold = false, link::address listen = {"127.0.0.1", 0},
                 link::credentials_source from = always(plane_credentials()),
                 std::size_t connections = 5'000)
      : sessions{hold} {
    auto started =
        link::listener::start({std::move(listen), std::move(from), sessions.acceptor(), connections,
                               [this](const link::refusal& seen) { refusals.add(seen); }});
    INFO((started ? "" : started.error()));
    REQUIRE(started);
    listener = std::move(*started);
  }

  std::uint64_t refused(link::refusal_reason reason) const {
    return listener->stats().refused[static_cast<std::size_t>(reason)];
  }

  session_log sessions;
  refusal_notes refusals;
  std::unique_ptr<link::listener> listener;
};

// The calling side.
struct node {
  explicit node(link::address to, link::credentials_source from = always(node_credentials()),
                bool hold = false)
      : sessions{hold},
        dialer{link::dialer::start(
                   {std::move(to), std::move(from), sessions.acceptor(), failures.callback()})
                   .value()} {}

  failure_log failures;
  session_log sessions;
  std::unique_ptr<link::dialer> dialer;
};

// A time that the program promises, and in addition what fifty connections take on this machine
// now: both share the processor with other programs.
inline std::chrono::milliseconds promised(std::chrono::nanoseconds time) {
  const auto begun = std::chrono::steady_clock::now();
  plane there;
  node here{there.listener->address()};
  REQUIRE(there.sessions.await().session);
  REQUIRE(here.sessions.await().session);
  const auto all = time + 50 * (std::chrono::steady_clock::now() - begun);
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::min<std::chrono::nanoseconds>(all, patience));
}

}  // namespace troupe::test
