#include "server/streams/spdy_connection.hpp"

#include <algorithm>

#include "api/values/ascii.hpp"
#include "server/http/status.hpp"
#include "server/http/upgrade.hpp"
#include "server/streams/defaults.hpp"

namespace troupe::server {

std::optional<std::string> spdy_connection::take(std::string_view bytes,
                                                 const spdy_events& events) {
  std::optional<std::string> wrong;
  const auto broken = reader_.feed(bytes, [&](const spdy_frame& frame) {
    if (wrong) return;
    if (frame.type == spdy_type::syn_stream)
      wrong = open(frame, events);
    else
      take(frame, events);
  });
  return broken ? broken : wrong;
}

std::optional<std::string> spdy_connection::open(const spdy_frame& frame,
                                                 const spdy_events& events) {
  // SPDY 2.3.2: the stream ids of a client are odd and increasing.
  if (frame.stream % 2 == 0 || frame.stream <= newest_) return "the number of a stream is wrong";
  newest_ = frame.stream;
  if (open_.size() >= defaults::spdy_streams || !events.opened(frame.stream, frame.headers)) {
    reset(frame.stream, spdy_status::refused_stream);
    return std::nullopt;
  }
  pipe_.write(writer_.write({.type = spdy_type::syn_reply, .stream = frame.stream}));
  if (frame.last)
    events.ended(frame.stream);
  else
    open_.insert(frame.stream);
  return std::nullopt;
}

void spdy_connection::take(const spdy_frame& frame, const spdy_events& events) {
  if (frame.type == spdy_type::ping) {
    pipe_.write(writer_.write({.type = spdy_type::ping, .stream = frame.stream}));
  } else if (frame.type == spdy_type::rst_stream) {
    open_.erase(frame.stream);
    events.reset(frame.stream);
  } else if (frame.type == spdy_type::data) {
    if (!open_.contains(frame.stream)) return;
    if (!frame.data.empty()) events.data(frame.stream, frame.data);
    if (frame.last && open_.erase(frame.stream) != 0) events.ended(frame.stream);
  }
}

bool spdy_connection::write(std::uint32_t stream, std::string_view bytes, bool last) {
  bool room = true;
  do {
    const auto part = bytes.substr(0, spdy_data_limit);
    bytes.remove_prefix(part.size());
    auto frame = spdy_data_head(stream, part.size(), last && bytes.empty());
    frame += part;
    room = pipe_.write(std::move(frame));
  } while (!bytes.empty());
  return room;
}

void spdy_connection::reset(std::uint32_t stream, std::uint32_t status) {
  open_.erase(stream);
  pipe_.write(writer_.write({.type = spdy_type::rst_stream, .stream = stream, .status = status}));
}

// -- the handshake --------------------------------------------------------------------------------

bool wants_spdy(const request& request) {
  return is_upgrade(request) && api::to_lower(request.headers.get("upgrade")) == "spdy/3.1";
}

std::optional<spdy_accepted> accept_spdy(const request& request, const responder& answer,
                                         const std::vector<std::string_view>& known,
                                         runtime::actor_ref to) {
  const auto offered = split_list(request.headers.joined("x-stream-protocol-version"));
  const auto chosen = std::find_if(offered.begin(), offered.end(), [&](const auto& each) {
    return std::find(known.begin(), known.end(), each) != known.end();
  });
  response head;
  if (chosen != offered.end()) {
    head.fields.push_back({"x-stream-protocol-version", *chosen});
  } else if (!offered.empty()) {
    auto refusal = status_response(
        403, "Forbidden", "unable to negotiate protocol: none of those that the client offers");
    for (const auto each : known)
      refusal.fields.push_back({"x-accepted-stream-protocol-versions", std::string{each}});
    answer.respond(std::move(refusal));
    return std::nullopt;
  }
  return spdy_accepted{client_pipe::open_tunnel(answer, "SPDY/3.1", std::move(head), std::move(to)),
                       chosen == offered.end() ? std::string{} : *chosen};
}

}  // namespace troupe::server
