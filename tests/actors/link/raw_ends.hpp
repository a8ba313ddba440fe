// Ends of a link without a gateway, in a simulation: they send what the test says and record what
// they receive. Also an actor that the test controls, as a kubelet or a reader.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/messages.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/joined.hpp"
#include "actors/link/node_gateway.hpp"
#include "actors/link/node_links.hpp"
#include "actors/link/node_requests.hpp"
#include "runtime/actor.hpp"
#include "runtime/link/link.hpp"
#include "runtime/simulation.hpp"
#include "support/link/loopback.hpp"

namespace troupe::test {

// Receives frames of type `Heard`, sends items of frames of type `Said`.
template <class Heard, class Said>
class raw_end final : public runtime::link::receiver {
 public:
  void received(runtime::link::delivery delivery) override {
    if (deaf) return unread.push_back(std::move(delivery));
    note(delivery);
  }
  void ended(const std::string& reason) override { end = reason; }

  // Sends all that `fill` puts into the frame. Returns false if the session is full.
  template <class F>
  bool say_all(F fill) {
    Said frame;
    fill(frame);
    return session->send(frame.SerializeAsString());
  }
  // Sends one item.
  template <class F>
  bool say(F fill) {
    return say_all([&](Said& frame) { fill(*frame.add_items()); });
  }
  // Processes the frames left unread, and receives from now on. Each released frame makes room for
  // more.
  void listen() {
    auto read = std::exchange(unread, {});
    for (const auto& each : read)
      note(each);
    deaf = false;
    read.clear();
  }

  runtime::link::session_ptr session;
  std::vector<typename Heard::Item> heard;
  std::string end;
  bool makes_sense = true;
  bool deaf = false;  // does not read: its window fills
  std::vector<runtime::link::delivery> unread;

 private:
  void note(const runtime::link::delivery& delivery) {
    Heard frame;
    makes_sense &= frame.ParseFromString(delivery.bytes());
    for (const auto& item : frame.items())
      heard.push_back(item);
  }
};

using raw_node = raw_end<actors::wire::ToNode, actors::wire::FromNode>;
using raw_plane = raw_end<actors::wire::FromNode, actors::wire::ToNode>;

struct node_line {
  std::shared_ptr<raw_node> node;
  loopback line;
};
inline node_line connect_raw_node(cluster& plane, const std::string& node) {
  const auto mine = std::make_shared<raw_node>();
  auto line = make_loopback(
      peer_of(node), [mine](const auto&) { return mine; }, {"plane", {}, {}, {}},
      plane.plane().links().acceptor());
  mine->session = line.one;
  plane.settle();
  return {mine, std::move(line)};
}

struct plane_line {
  std::shared_ptr<raw_plane> plane;
  loopback line;
};
inline plane_line connect_raw_plane(const runtime::actor_ref& gateway) {
  const auto mine = std::make_shared<raw_plane>();
  auto line = make_loopback(peer_of("n0"), actors::gateway_acceptor(gateway), {"plane", {}, {}, {}},
                            [mine](const auto&) { return mine; });
  mine->session = line.other;
  return {mine, std::move(line)};
}

// Messages received by an actor of the test.
struct told {
  std::vector<actors::watch_events> events;
  std::vector<actors::watch_ended> ended;
  std::vector<actors::subscribe> subscribed;  // received as a watcher
  std::vector<actors::more> more;
  std::vector<actors::log_part> parts;
  std::vector<actors::commit_done> committed;
  std::vector<actors::command_done> commanded;
  std::vector<actors::console_view> views;
  std::vector<actors::token_answer> granted;
  std::vector<actors::node_usage> usages;
  std::vector<runtime::request_error> failed;
};

class scripted : public runtime::actor {
 public:
  struct act {
    std::function<void(scripted&)> action;
  };

  explicit scripted(std::shared_ptr<told> notes) : notes_{std::move(notes)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&scripted::on_act, &scripted::on_events, &scripted::on_ended,
                          &scripted::on_part, &scripted::on_subscribe, &scripted::on_more);
    return table;
  }

  template <class T>
  void say(const runtime::actor_ref& to, T message) {
    tell(to, std::move(message));
  }
  template <class Reply, class T>
  void ask(const runtime::actor_ref& to, T message, runtime::duration limit,
           std::vector<Reply> told::*into) {
    request<Reply>(to, std::move(message), limit, [this, into](auto reply) {
      if (reply)
        ((*notes_).*into).push_back(**reply);
      else
        notes_->failed.push_back(reply.error());
    });
  }

 private:
  void on_act(const act& m) { m.action(*this); }
  void on_events(const actors::watch_events& m) { notes_->events.push_back(m); }
  void on_ended(const actors::watch_ended& m) { notes_->ended.push_back(m); }
  void on_subscribe(const actors::subscribe& m) { notes_->subscribed.push_back(m); }
  void on_more(const actors::more& m) { notes_->more.push_back(m); }
  void on_part(const actors::log_part& m) { notes_->parts.push_back(m); }

  const std::shared_ptr<told> notes_;
};

// Such an actor, and the messages it has received.
class actor_of_test {
 public:
  actor_of_test(runtime::simulation& world, std::string name)
      : world_{world},
        ref_{world.system().spawn({.kind = "test", .name = std::move(name)},
                                  runtime::make<scripted>(heard))} {}

  template <class T>
  void say(const runtime::actor_ref& to, T message) {
    act([to, message](scripted& self) { self.say(to, message); });
  }
  template <class Reply, class T>
  void ask(const runtime::actor_ref& to, T message, runtime::duration limit,
           std::vector<Reply> told::*into) {
    act([to, message, limit, into](scripted& self) { self.ask<Reply>(to, message, limit, into); });
  }
  void end() {
    world_.system().stop(ref_);
    world_.settle();
  }

  const runtime::actor_ref& ref() const { return ref_; }

  const std::shared_ptr<told> heard = std::make_shared<told>();

 private:
  void act(std::function<void(scripted&)> action) {
    ref_.tell(scripted::act{std::move(action)});
    world_.settle();
  }

  runtime::simulation& world_;
  const runtime::actor_ref ref_;
};

}  // namespace troupe::test
