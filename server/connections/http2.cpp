#include "server/connections/http2.hpp"

#include <array>
#include <vector>

#include "server/connections/answer_head.hpp"
#include "server/connections/http1_parser.hpp"
#include "server/connections/http2_callbacks.hpp"
#include "server/defaults.hpp"
#include "server/http/status.hpp"

namespace troupe::server {
namespace {

// nghttp2 copies the values but not the names, which are literals.
nghttp2_nv header(std::string_view name, std::string_view value, std::uint8_t flags = 0) {
  // nghttp2's interface is not const, but it does not write.
  auto* name_bytes = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data()));
  auto* value_bytes = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data()));
  return {name_bytes, value_bytes, name.size(), value.size(),
          static_cast<std::uint8_t>(flags | NGHTTP2_NV_FLAG_NO_COPY_NAME)};
}

}  // namespace

void http2_flow::on_exchange(exchange&) {
  session.on_output(*this);
}

http2::http2(connection& connection) : connection_{connection}, idle_since_{connection.now()} {
  nghttp2_session_server_new2(&session_, http2_session_callbacks(), this, http2_session_options());
  const auto& options = connection_.worker().options();
  const std::array<nghttp2_settings_entry, 3> settings{{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, connection_.authenticated()
                                                    ? defaults::concurrent_streams
                                                    : defaults::unauthenticated_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, defaults::stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
       static_cast<std::uint32_t>(options.header_limit_bytes)},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        defaults::connection_window_bytes);
  pump();
}

http2::~http2() {
  for (auto& [id, flow] : flows_)
    flow->current->detach();
  nghttp2_session_del(session_);
}

// -- from the connection ------------------------------------------------------------------------

void http2::on_input(std::string_view bytes) {
  const auto taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  pump();
  if (taken < 0) finished_ = true;
}

bool http2::finished() const {
  return finished_ ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

std::chrono::milliseconds http2::stall_limit() const {
  return connection_.worker().options().stall_timeout;
}

void http2::on_tick() {
  const auto& options = connection_.worker().options();
  const auto limit = served_any_ ? options.idle_timeout : options.header_timeout;
  if (flows_.empty() && connection_.now() - idle_since_ > limit)
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  for (auto& [id, flow] : flows_)
    check_time(*flow);
  pump();
}

void http2::check_time(http2_flow& flow) {
  const auto& options = connection_.worker().options();
  const auto& request = flow.current->request();
  const auto now = connection_.now();
  if (flow.lingers_since) {
    if (now - *flow.lingers_since > defaults::linger_timeout) stop(flow);
  } else if (flow.unsent() && now - flow.progress > flow.stall_limit) {
    connection_.count_time_out();
    reset(flow, NGHTTP2_CANCEL);
  } else if (!flow.complete && !flow.refused &&
             (now - request.received > options.request_timeout ||
              body_is_slow(options, now - request.received, flow.body_bytes))) {
    connection_.count_time_out();
    refuse_here(flow, body_too_slow());
  } else if (flow.complete && !request.long_running && flow.current->unanswered() &&
             now - request.received > options.request_timeout) {
    flow.current->respond(status_response(504, "Timeout", "the request was not answered in time"));
  }
}

void http2::drain() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  for (auto& [id, flow] : flows_) {
    if (flow->streams) flow->current->end();
  }
  pump();
}

void http2::pump() {
  auto& wire = connection_.wire();
  while (!wire.blocked() && !wire.broken() && !wire.spent()) {
    const std::uint8_t* data = nullptr;
    const auto size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) finished_ = true;
    if (size <= 0) return;
    wire.write({reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)});
  }
}

// -- requests, from nghttp2 -----------------------------------------------------------------------

http2_flow* http2::find(std::int32_t id) noexcept {
  return static_cast<http2_flow*>(nghttp2_session_get_stream_user_data(session_, id));
}

void http2::begin(std::int32_t id) {
  auto flow = std::make_unique<http2_flow>(*this, id);
  flow->current = std::make_shared<exchange>(connection_.worker().loop().queue(), *flow,
                                             connection_.worker().counters().streams);
  auto& request = flow->current->request();
  request.id = connection_.worker().next_request_id();
  request.connection = connection_.info();
  request.received = flow->progress = connection_.now();
  flow->stall_limit = connection_.worker().options().stall_timeout;
  nghttp2_session_set_stream_user_data(session_, id, flow.get());
  flows_.emplace(id, std::move(flow));
}

void http2::add_header(http2_flow& flow, std::string_view name, std::string_view value) {
  auto& request = flow.current->request();
  flow.header_bytes += name.size() + value.size() + 4;
  if (flow.header_bytes > connection_.header_limit_bytes() ||
      request.headers.size() >= defaults::header_count_limit) {
    flow.header_too_large = true;
  } else if (name == ":method") {
    request.method_text = value;
    request.method = parse_method(value);
  } else if (name == ":path") {
    flow.bad_target = !parse_target(value, request);
  } else if (name == ":authority") {
    request.headers.add("host", value);
  } else if (name == "host" && request.headers.has("host")) {
    // RFC 9113 8.3.1: it must equal :authority.
    flow.bad_target = flow.bad_target || request.headers.get("host") != value;
  } else if (!name.starts_with(':')) {
    request.headers.add(name, value);
  }
}

void http2::head_complete(http2_flow& flow) {
  auto& request = flow.current->request();
  served_any_ = true;
  ++connection_.worker().counters().requests;
  if (flow.header_too_large)
    return refuse_here(flow, status_response(431, "RequestHeaderFieldsTooLarge",
                                             "the header fields of the request are too large"));
  if (flow.bad_target || request.path.empty())
    return refuse_here(flow,
                       status_response(400, "BadRequest", "the request target is not a path"));
  auto refusal = admit(connection_, request);
  if (connection_.mark_authenticated(request)) {
    const nghttp2_settings_entry more{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                      defaults::concurrent_streams};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &more, 1);
  }
  if (refusal) refuse(flow, std::move(*refusal));
}

bool http2::header_part(bool first, std::size_t bytes) {
  block_bytes_ = bytes + (first ? 0 : block_bytes_);
  return block_bytes_ <= (connection_.authenticated() ? 2 : 1) * connection_.header_limit_bytes();
}

bool http2::refused_stream() {
  return connection_.authenticated() || ++refused_streams_ <= defaults::refused_streams;
}

void http2::add_body(http2_flow& flow, std::string_view part) {
  auto& request = flow.current->request();
  flow.body_bytes += part.size();
  if (flow.refused) {
    if (flow.discarded_bytes > defaults::linger_bytes) return;  // the stream was told to stop
    flow.discarded_bytes += part.size();
    if (flow.discarded_bytes > defaults::linger_bytes) stop(flow);
    return;
  }
  if (request.method == http_method::get || request.method == http_method::head) return;
  const auto limit = connection_.worker().options().body_limit_bytes;
  if (request.content.size() + part.size() > limit) {
    std::string{}.swap(request.content);
    return refuse_here(flow, body_too_large(limit));
  }
  request.content.append(part);
  if (auto refusal = charge_body(connection_, *flow.current)) {
    std::string{}.swap(request.content);
    refuse(flow, std::move(*refusal));
  }
}

void http2::request_complete(http2_flow& flow) {
  flow.complete = true;
  if (flow.refused) return;
  flow.stall_limit = server::stall_limit(connection_.worker().options(), flow.current->request());
  if (auto refusal = enter(connection_, *flow.current)) {
    flow.current->answer_here(std::move(*refusal));
  } else {
    flow.current->serve(connection_.target());
  }
  take_output(flow);
}

void http2::refuse_here(http2_flow& flow, response answer) {
  connection_.refused(flow.current->request(), answer);
  refuse(flow, std::move(answer));
}

// Responds before the end of the request. Later input is discarded for a while: a client whose
// stream is reset at once may drop the response too.
void http2::refuse(http2_flow& flow, response answer) {
  flow.refused = true;
  flow.current->answer_here(std::move(answer));
  take_output(flow);
}

void http2::end(std::int32_t id) {
  const auto found = flows_.find(id);
  if (found == flows_.end()) return;
  found->second->current->detach();
  flows_.erase(found);
  idle_since_ = connection_.now();
}

// -- answers --------------------------------------------------------------------------------------

void http2::on_output(http2_flow& flow) {
  take_output(flow);
  pump();
  connection_.proceed();
}

void http2::take_output(http2_flow& flow) {
  auto output = flow.current->take();
  if (output.overrun) {
    ++connection_.worker().counters().overrun_streams;
    return reset(flow, NGHTTP2_ENHANCE_YOUR_CALM);
  }
  if (output.cut) return reset(flow, NGHTTP2_INTERNAL_ERROR);
  if (output.tunnels) return reset(flow, NGHTTP2_HTTP_1_1_REQUIRED);
  if (flow.out.empty()) flow.progress = connection_.now();
  flow.ended = output.ended;
  flow.streams = output.streams;
  if (output.head) {
    submit_head(flow, *output.head);
    // For an unauthenticated connection, whose requests no other thread has: unread responses must
    // not keep the request's memory.
    if (!connection_.authenticated() && flow.current.use_count() == 1) flow.current->drop_request();
  }
  if (!output.chunks.empty()) flow.out.add(std::move(output.chunks));
  if (flow.deferred && (flow.ended || !flow.out.empty())) {
    flow.deferred = false;
    nghttp2_session_resume_data(session_, flow.id);
  }
}

void http2::submit_head(http2_flow& flow, response& head) {
  const auto& request = flow.current->request();
  const bool no_content = head.status == 204 || head.status == 304;
  std::string status;
  append_number(status, static_cast<std::uint64_t>(head.status));
  std::string length;
  append_number(length, head.content.size_bytes());

  // The visited values are temporary: they are kept until nghttp2 has copied them.
  std::vector<std::string> values;
  values.reserve(head.fields.size() + 4);
  std::vector<nghttp2_nv> headers;
  headers.reserve(head.fields.size() + 6);
  headers.push_back(header(":status", status));
  each_field(head, request.id, connection_.worker().date(),
             [&](std::string_view name, std::string_view value) {
               values.emplace_back(value);
               // A value that never repeats should not enter the compression table.
               headers.push_back(
                   header(name, values.back(), name == "audit-id" ? NGHTTP2_NV_FLAG_NO_INDEX : 0));
             });
  const bool known_length = !flow.streams && !head.content.has_rest();
  if (known_length && !no_content)
    headers.push_back(header("content-length", length, NGHTTP2_NV_FLAG_NO_INDEX));

  const bool bodiless =
      no_content || request.method == http_method::head || (known_length && head.content.empty());
  if (bodiless) {
    nghttp2_submit_response(session_, flow.id, headers.data(), headers.size(), nullptr);
    return;
  }
  flow.rest = head.content.release_rest();
  flow.out.add(head.content.release());
  const auto source = http2_body_of(flow);
  nghttp2_submit_response(session_, flow.id, headers.data(), headers.size(), &source);
}

void http2::answer_sent(http2_flow& flow) {
  if (!flow.complete) flow.lingers_since = connection_.now();
}

void http2::stop(http2_flow& flow) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, flow.id, NGHTTP2_NO_ERROR);
}

void http2::reset(http2_flow& flow, std::uint32_t error_code) {
  flow.out.clear();
  flow.rest = nullptr;
  flow.ended = true;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, flow.id, error_code);
}

}  // namespace troupe::server
