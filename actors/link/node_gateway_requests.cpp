// The part of the gateway that replaces the writer and the recorder.
#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/core/store_error.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/node_gateway.hpp"
#include "api/object/object_key.hpp"

namespace troupe::actors {

namespace {

using persistence::errc;

api::error as_api_error(const persistence::error& e) {
  return e.code == errc::overloaded ? api::too_many_requests(e.message, 1)
                                    : api::service_unavailable(e.message);
}

commit_done failed(errc code, std::string reason) {
  return {tl::make_unexpected(persistence::error{code, std::move(reason)})};
}

}  // namespace

// Returns why a request cannot be sent. The state is unchanged then.
std::optional<persistence::error> node_gateway::cannot_request() const {
  if (!inbox_)
    return persistence::error{errc::closed, "there is no link to the control plane: try again"};
  if (pending_.size() >= link_defaults::requests_under_way)
    return persistence::error{
        errc::overloaded,
        fmt::format("{} requests wait for the control plane: try again", pending_.size())};
  return std::nullopt;
}

std::uint64_t node_gateway::add_pending(pending request) {
  request.until = now() + link_defaults::request_limit;
  pending_[++last_number_] = std::move(request);
  return last_number_;
}

void node_gateway::on_commit(const commit& m, runtime::promise<commit_done> answer) {
  if (auto problem = cannot_request()) {
    ++lost_;
    return answer.deliver({tl::make_unexpected(std::move(*problem))});
  }
  ++commits_;
  const bool wanted = answer.pending();
  std::uint64_t id = 0;
  if (wanted) {
    pending request;
    request.committed = std::move(answer);
    for (const auto& each : m.transaction->mutations)
      request.keys.push_back(each.key);
    id = add_pending(std::move(request));
  }
  wire::FromNode::Item item;
  write_commit(*item.mutable_commit(), id, *m.transaction);
  if (send_item(item) || !wanted) return;
  pending_.at(id).committed.deliver(
      failed(errc::too_large, "the transaction is larger than a frame of the link"));
  pending_.erase(id);
}

template <class F>
void node_gateway::send_command(runtime::promise<command_done> answer, F write) {
  if (const auto problem = cannot_request()) {
    ++lost_;
    return answer.deliver({api::fail(as_api_error(*problem))});
  }
  std::uint64_t id = 0;
  if (answer.pending()) {
    pending request;
    request.commanded = std::move(answer);
    id = add_pending(std::move(request));
  }
  wire::FromNode::Item item;
  write(item, id);
  send_item(item);
}

void node_gateway::on_evict(const evict& m, runtime::promise<command_done> answer) {
  send_command(std::move(answer),
               [&](auto& item, auto id) { write_evict(*item.mutable_evict(), id, m); });
}

void node_gateway::on_remove(const remove& m, runtime::promise<command_done> answer) {
  send_command(std::move(answer),
               [&](auto& item, auto id) { write_remove(*item.mutable_remove(), id, m); });
}

void node_gateway::on_request_token(const request_token& m, runtime::promise<token_answer> answer) {
  if (const auto problem = cannot_request())
    return answer.deliver({api::fail(as_api_error(*problem))});
  pending request;
  request.granted = std::move(answer);
  const auto id = add_pending(std::move(request));
  wire::FromNode::Item item;
  write_request_token(*item.mutable_request_token(), id, m);
  send_item(item);
}

void node_gateway::on_record_event(const record_event& m) {
  if (!m.about) return;
  wire::FromNode::Item item;
  auto& out = *item.mutable_record_event();
  out.set_key(api::key_of(*m.about));
  out.set_uid(m.about->meta().uid());
  out.set_warning(m.warning);
  out.set_reason(m.reason);
  out.set_message(m.message);
  out.set_field_path(m.field_path);
  if (inbox_)
    send_item(item);
  else
    keep_event(std::move(item));
}

void node_gateway::keep_event(wire::FromNode::Item event) {
  event.set_request(current_cause().request);
  event.set_revision(current_cause().revision);
  unsent_bytes_ += event.ByteSizeLong();
  unsent_.push_back({now(), std::move(event)});
  for (; unsent_bytes_ > link_defaults::unsent_event_bytes; unsent_.pop_front())
    unsent_bytes_ -= unsent_.front().item.ByteSizeLong();
}

void node_gateway::send_unsent_events() {
  unsent_bytes_ = 0;
  for (auto& [at, event] : std::exchange(unsent_, {})) {
    current_cause({event.request(), event.revision()});
    const auto ago = std::chrono::duration_cast<std::chrono::milliseconds>(now() - at);
    event.mutable_record_event()->set_ago_ms(static_cast<std::uint64_t>(ago.count()));
    send_item(event);
  }
}

// -- answers --------------------------------------------------------------------------------------

void node_gateway::take_commit_done(const wire::CommitDone& m) {
  const auto found = pending_.find(m.id());
  if (found == pending_.end()) return;
  auto result = read_commit_done(m, found->second.keys);
  found->second.committed.deliver(result ? commit_done{std::move(*result)}
                                         : failed(errc::io, result.error()));
  pending_.erase(found);
}

void node_gateway::take_command_done(const wire::CommandDone& m) {
  const auto found = pending_.find(m.id());
  if (found == pending_.end()) return;
  auto result = read_command_done(m);
  found->second.commanded.deliver(result ? command_done{std::move(*result)}
                                         : command_done{api::fail(api::internal(result.error()))});
  pending_.erase(found);
}

void node_gateway::take_token_answer(const wire::TokenAnswer& m) {
  const auto found = pending_.find(m.id());
  if (found == pending_.end()) return;
  found->second.granted.deliver({read_token_answer(m)});
  pending_.erase(found);
}

// The requests that were sent may have been executed.
void node_gateway::fail_all(const std::string& reason) {
  const auto text = fmt::format(
      "the link to the control plane was lost ({}): whether it was done is not known", reason);
  for (auto& [id, request] : std::exchange(pending_, {})) {
    request.committed.deliver(failed(errc::io, text));
    request.commanded.deliver({api::fail(api::service_unavailable(text))});
    request.granted.deliver({api::fail(api::service_unavailable(text))});
  }
}

}  // namespace troupe::actors
