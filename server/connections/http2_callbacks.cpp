#include "server/connections/http2_callbacks.hpp"

#include <algorithm>

#include "server/connections/http2.hpp"

namespace troupe::server {

struct http2_callbacks {
  static http2& self(void* user) { return *static_cast<http2*>(user); }
  static std::string_view view(const std::uint8_t* text, std::size_t size) {
    return {reinterpret_cast<const char*>(text), size};
  }

  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
    const bool first = head->type == NGHTTP2_HEADERS;
    if (!first && head->type != NGHTTP2_CONTINUATION) return 0;
    return self(user).header_part(first, head->length) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int invalid_frame(nghttp2_session*, const nghttp2_frame*, int error, void* user) {
    if (error != NGHTTP2_ERR_REFUSED_STREAM) return 0;
    return self(user).refused_stream() ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) self(user).begin(frame->hd.stream_id);
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    auto* flow = self(user).find(frame->hd.stream_id);
    if (flow != nullptr && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
      self(user).add_header(*flow, view(name, name_size), view(value, value_size));
    return 0;
  }

  // An invalid name or value: nghttp2 would omit the field, but RFC 9113 8.2.1 requires to reset
  // the stream.
  static int invalid_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t*,
                            std::size_t, const std::uint8_t*, std::size_t, std::uint8_t, void*) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    auto* flow = self(user).find(frame->hd.stream_id);
    if (flow == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
      self(user).head_complete(*flow);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) self(user).request_complete(*flow);
    return 0;
  }

  static int data_chunk(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                        std::size_t size, void* user) {
    if (auto* flow = self(user).find(id)) self(user).add_body(*flow, view(data, size));
    return 0;
  }

  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (auto* flow = self(user).find(frame->hd.stream_id)) self(user).answer_sent(*flow);
    return 0;
  }

  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    self(user).end(id);
    return 0;
  }

  // Reports the available size; send_data sends the bytes without a copy.
  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t size,
                           std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& flow = *static_cast<http2_flow*>(source->ptr);
    while (flow.out.empty() && flow.rest) {
      body made;
      if (!flow.rest(made)) flow.rest = nullptr;
      flow.out.add(made.release());
    }
    const auto count = std::min(size, flow.out.size_bytes());
    if (count == 0 && !flow.ended) {
      flow.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    if (flow.ended && !flow.rest && count == flow.out.size_bytes()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (count > 0) *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    return static_cast<ssize_t>(count);
  }

  static int send_data(nghttp2_session*, nghttp2_frame*, const std::uint8_t* frame_head,
                       std::size_t size, nghttp2_data_source* source, void* user) {
    auto& wire = self(user).connection_.wire();
    if (wire.blocked() || wire.spent()) return NGHTTP2_ERR_WOULDBLOCK;
    auto& flow = *static_cast<http2_flow*>(source->ptr);
    wire.write(view(frame_head, 9));
    for (auto rest = size; rest > 0;) {
      const auto part = flow.out.front().substr(0, rest);
      wire.write(part);
      flow.out.consume(part.size());
      rest -= part.size();
    }
    flow.progress = self(user).connection_.now();
    if (flow.streams) flow.current->sent(size);
    return 0;
  }
};

const nghttp2_session_callbacks* http2_session_callbacks() {
  static const nghttp2_session_callbacks* const made = [] {
    nghttp2_session_callbacks* c = nullptr;
    nghttp2_session_callbacks_new(&c);
    nghttp2_session_callbacks_set_on_begin_frame_callback(c, http2_callbacks::begin_frame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, http2_callbacks::invalid_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(c, http2_callbacks::begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(c, http2_callbacks::header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(c, http2_callbacks::invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c, http2_callbacks::frame_received);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, http2_callbacks::data_chunk);
    nghttp2_session_callbacks_set_on_frame_send_callback(c, http2_callbacks::frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(c, http2_callbacks::stream_closed);
    nghttp2_session_callbacks_set_send_data_callback(c, http2_callbacks::send_data);
    return c;
  }();
  return made;
}

const nghttp2_option* http2_session_options() {
  static const nghttp2_option* const made = [] {
    nghttp2_option* o = nullptr;
    nghttp2_option_new(&o);
    nghttp2_option_set_no_closed_streams(o, 1);
    nghttp2_option_set_max_outbound_ack(o, defaults::waiting_acks);
    nghttp2_option_set_stream_reset_rate_limit(o, defaults::reset_burst,
                                               defaults::resets_per_second);
    return o;
  }();
  return made;
}

nghttp2_data_provider http2_body_of(http2_flow& flow) {
  nghttp2_data_provider provider;
  provider.source.ptr = &flow;
  provider.read_callback = http2_callbacks::read_body;
  return provider;
}

}  // namespace troupe::server
