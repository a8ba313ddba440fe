#include "server/rest/logs/log_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/defaults.hpp"
#include "actors/link/log_streamer.hpp"
#include "actors/link/node_links.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/values/base64.hpp"
#include "server/rest/logs/logs.hpp"

namespace troupe::server {
namespace {

constexpr const char* binary_protocol = "binary.k8s.io";
constexpr const char* base64_protocol = "base64.binary.k8s.io";

}  // namespace

log_session::log_session(call_ptr call, actors::open_log log,
                         std::shared_ptr<actors::log_source> here, api::error otherwise)
    : call_{std::move(call)},
      log_{std::move(log)},
      here_{std::move(here)},
      otherwise_{std::move(otherwise)} {}

log_session::~log_session() {
  out_.close();
}

const runtime::behavior& log_session::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &log_session::on_log_part, &log_session::on_room, &log_session::on_client_gone);
  return table;
}

void log_session::started() {
  if (here_)
    spawn({.kind = "log-streamer", .name = name(), .restart = false},
          runtime::make<actors::log_streamer>(actors::log_request{.id = log_.id,
                                                                  .from = log_.from,
                                                                  .query = log_.query,
                                                                  .follow = log_.follow,
                                                                  .credit = log_.credit},
                                              here_, self()));
  else
    await_node();
  const runtime::duration period =
      here_ ? actors::defaults::log_follow_period : defaults::remote_log_check_period;
  if (log_.follow) check_timer_ = every(period, [this] { check_end(); });
}

void log_session::await_node() {
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
}

std::string log_session::describe() const {
  return fmt::format("node: {}\ncontainer: {}\nfollow: {}\nwaitsForClient: {}\n", log_.node,
                     log_.from.container, log_.follow, full_);
}

void log_session::begin() {
  begun_ = true;
  late_.cancel();
  response head;
  head.content_type = "text/plain";
  const auto& request = *call_->request;
  out_ = answer_stream::open(request, call_->take_over(answer_stream::status_for(request)),
                             std::move(head), {binary_protocol, base64_protocol},
                             {.writable = [to = self()] { to.tell(room{}); },
                              .closed = [to = self()] { to.tell(client_gone{}); }});
  // Tells a WebSocket client that it is connected (kubernetes: util/wsstream, Reader).
  if (out_.by_messages()) write({});
}

bool log_session::write(std::string_view text) {
  if (out_.protocol() != base64_protocol) {
    const shared_text shared{text};
    return out_.write(*shared, shared, true);
  }
  std::string encoded;
  api::append_base64(encoded, text);
  const shared_text shared{encoded};
  return out_.write(*shared, shared, false);
}

void log_session::on_log_part(const actors::log_part& m) {
  if (!begun_ && !m.problem.empty()) {
    late_.cancel();
    begun_ = true;
    auto failure = otherwise_;
    if (!here_ && !call_->services.plane.links().table().connected(log_.node))
      failure = api::service_unavailable(m.problem);
    call_->fail(failure);
    return stop();
  }
  from_ = sender();
  if (!begun_) begin();
  if (!m.text.empty()) {
    full_ = !write(m.text);
    ++owed_;
  }
  if (m.ended) {
    finished_ = true;
    from_ = {};
    return stop();
  }
  if (!full_) give_credit();
}

void log_session::give_credit() {
  if (owed_ != 0 && from_) tell(from_, actors::more_log{log_.id, std::exchange(owed_, 0)});
}

void log_session::on_room(const room&) {
  full_ = false;
  give_credit();
}

void log_session::on_client_gone(const client_gone&) {
  if (from_ && !here_) tell(from_, actors::close_log{log_.id});
  stop();
}

// All output written before the end of the run was noticed is in the log by then.
void log_session::check_end() {
  if (finished_ || !from_ || !run_ended(*call_, log_)) return;
  finished_ = true;
  tell(from_, actors::finish_log{log_.id});
}

}  // namespace troupe::server
