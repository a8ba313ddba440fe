#include "server/rest/logs/remote_logs.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/link/node_links.hpp"
#include "api/schema/core_pod.pb.h"
#include "server/rest/logs/logs.hpp"

namespace troupe::server {

remote_log_session::remote_log_session(call_ptr call, actors::open_log log, api::error otherwise)
    : call_{std::move(call)}, log_{std::move(log)}, otherwise_{std::move(otherwise)} {}

remote_log_session::~remote_log_session() {
  out_.close();
}

const runtime::behavior& remote_log_session::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&remote_log_session::on_log_part, &remote_log_session::on_room,
                        &remote_log_session::on_client_gone);
  return table;
}

void remote_log_session::started() {
  tell(call_->services.plane.links().actor(), log_);
  late_ = after(defaults::remote_log_wait, [this] {
    call_->fail(api::timed_out(
        fmt::format(
            "node {} did not answer within {} s: its link may be down", log_.node,
            std::chrono::duration_cast<std::chrono::seconds>(defaults::remote_log_wait).count()),
        1));
    begun_ = true;
    stop();
  });
  if (log_.follow) look_ = every(defaults::remote_log_look, [this] { look_for_end(); });
}

std::string remote_log_session::describe() const {
  return fmt::format("node: {}\ncontainer: {}\nfollow: {}\nwaitsForClient: {}\n", log_.node,
                     log_.container, log_.follow, full_);
}

void remote_log_session::begin() {
  begun_ = true;
  late_.cancel();
  response head;
  head.content_type = "text/plain";
  out_ = call_->take_over().start_stream(std::move(head),
                                         {.writable = [to = self()] { to.tell(room{}); },
                                          .closed = [to = self()] { to.tell(client_gone{}); }});
}

void remote_log_session::on_log_part(const actors::log_part& m) {
  if (!begun_ && !m.problem.empty()) {
    late_.cancel();
    begun_ = true;
    auto failure = otherwise_;
    if (!call_->services.plane.links().table().connected(log_.node))
      failure = api::service_unavailable(m.problem);
    call_->fail(failure);
    return stop();
  }
  node_ = sender();
  if (!begun_) begin();
  if (!m.text.empty()) {
    full_ = !out_.write(m.text);
    ++owed_;
  }
  if (m.ended) {
    finished_ = true;
    node_ = {};
    return stop();
  }
  if (!full_) give_credit();
}

void remote_log_session::give_credit() {
  if (owed_ != 0 && node_) tell(node_, actors::more_log{log_.id, std::exchange(owed_, 0)});
}

void remote_log_session::on_room(const room&) {
  full_ = false;
  give_credit();
}

void remote_log_session::on_client_gone(const client_gone&) {
  if (node_) tell(node_, actors::close_log{log_.id});
  stop();
}

// What the run wrote before its end was known is in the file by then.
void remote_log_session::look_for_end() {
  if (finished_ || !node_ || !run_ended(*call_, log_)) return;
  finished_ = true;
  tell(node_, actors::finish_log{log_.id});
}

}  // namespace troupe::server
