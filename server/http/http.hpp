// HTTP as handlers see it, the same for HTTP/1.1 and HTTP/2, with and without TLS.
//
// A request comes whole: headers checked, body read and within its limit, user known and permitted.
// The handler gets it on an I/O thread, must not block there, and answers through its responder at
// once or later, from any thread. Whatever happens the client gets one answer: a responder that is
// dropped unanswered says 500, one that is not used within the request time-out says 504. After the
// client has gone, answers go nowhere and cost nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/fwd.hpp"
#include "server/http/body.hpp"
#include "server/http/headers.hpp"
#include "server/http/query.hpp"
#include "server/http/request_info.hpp"

namespace troupe::server {

enum class http_method : std::uint8_t { get, head, post, put, patch, del, options, other };
std::string_view to_string(http_method method) noexcept;
http_method parse_method(std::string_view text) noexcept;

// The user of a request, in upstream's terms.
struct user_info {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  // Further attributes by key; only an impersonated user has any.
  std::map<std::string, std::vector<std::string>> extra = {};
  bool in_group(std::string_view group) const noexcept;
};

// The connection of a request; shared by its requests.
struct connection_info {
  std::string peer;   // "127.0.0.1:40312", "[::1]:40312"
  std::string local;  // the address that the client called
  bool secure = false;
  std::uint64_t address =
      0;  // of the peer, as address_of() in connections/unauthenticated_connections.hpp
  // From the verified client certificate: CN and O. Null when none was presented.
  user_ptr certificate_user;
  // Of that certificate: "sha256:" and the hash of its public key in hex.
  std::string certificate_key_hash;
  // Why the presented certificate was refused; empty when none was presented or it is good.
  std::string certificate_error;
};

// Held by one thread at a time: the I/O thread until serve(), then whoever has the pointer.
struct request {
  // Unique in the life of the cluster for all practical purposes; sent as the Audit-Id header.
  std::uint64_t id = 0;
  http_method method = http_method::get;
  std::string method_text;  // as sent, for `other`
  std::string path;         // percent-decoded, begins with '/', without NUL
  query_string query;
  bool empty_query = false;  // the target ends with a '?'
  header_block headers;
  // At most http_options::body_limit_bytes; empty for GET and HEAD, whose bodies are dropped.
  std::string content;
  std::shared_ptr<const connection_info> connection;
  // Set by auth_filter.
  user_ptr user;
  user_ptr impersonator;  // who asks as `user`; null where that is the user itself
  request_info info;
  // No time-out and no place among the requests in flight: watches, log --follow, upgrades.
  bool long_running = false;
  std::chrono::steady_clock::time_point received;
};

// A field of a response. `name` is in lower case, and a literal or kept by response::names.
struct field {
  std::string_view name;
  std::string value;
};

struct response {
  int status = 200;
  std::string content_type;
  // Others than content-type, content-length and date, which are the transport's. cache-control is
  // "no-cache, private" (as upstream) unless given here.
  std::vector<field> fields;
  std::shared_ptr<const void> names;  // keeps names of fields that are no literals
  server::body content;
};

// The events of a stream; all are called on the stream's I/O thread and must not block.
struct stream_events {
  // write() said false and there is room again.
  std::function<void()> writable;
  // Once: the client has gone, was too slow, or close() was called. Nothing is called after it.
  std::function<void()> closed;
  // Of a tunnel only: the bytes of the client, in order. False: no more until stream::resume().
  std::function<bool(std::string_view bytes)> received = nullptr;
};

// An answer without an end yet. A handle: copies mean the same stream, and when the last one is
// dropped it is closed. Thread safe.
class stream {
 public:
  stream() = default;

  // Sent in order of the calls. False: more than `http_options::stream_buffer_bytes` wait, so wait
  // for `writable`; the chunk was taken nevertheless. Who writes on regardless beyond four times
  // that is cut off. Chunks for a closed stream are dropped (and it answers false).
  bool write(shared_text chunk) const;
  bool write(std::string chunk) const;
  bool write(std::string_view chunk, shared_text owner) const;
  // Ends the answer properly once everything written has gone out.
  void close() const;
  // Ends it so that the client sees that something is missing; waiting bytes may be lost.
  void cut() const;
  bool open() const noexcept;
  // The bytes that were written and have not gone out.
  std::size_t waiting_bytes() const noexcept;
  // Of a tunnel: `received` may be called again.
  void resume() const;

 private:
  friend class responder;
  explicit stream(std::shared_ptr<class stream_duty> duty) : duty_{std::move(duty)} {}
  std::shared_ptr<class stream_duty> duty_;
};

// The duty to answer one request. A handle: copies mean the same duty; when the last one is dropped
// without an answer the client gets a 500. Thread safe; the first answer counts.
class responder {
 public:
  responder() = default;
  explicit responder(std::shared_ptr<class exchange_duty> duty) : duty_{std::move(duty)} {}

  void respond(response answer) const;
  // For whoever has the answer on a thread that others need: runs `work`, which makes and gives it,
  // on the thread of the connection. It runs even when the client has left.
  void run(std::function<void()> work) const;
  // The head goes out at once; `head.content` becomes the stream's first chunk.
  stream start_stream(response head, stream_events events) const;
  // Answers 101 with the fields of `head`, among them `upgrade`; from then on the connection
  // carries bytes of another protocol both ways: to `received`, and from the stream as they are.
  // HTTP/1.1 only: over HTTP/2 the stream is reset with HTTP_1_1_REQUIRED.
  stream start_tunnel(response head, stream_events events) const;
  // The client has left: work for the answer may stop.
  bool gone() const noexcept;

 private:
  std::shared_ptr<class exchange_duty> duty_;
};

// Handlers are called on several I/O threads at once.
class handler {
 public:
  virtual ~handler() = default;

  // The head of a request, before its body is read: a refusal is sent at once and the body never
  // buffered. May set `user` and `long_running`.
  virtual std::optional<response> admit(request& head) {
    static_cast<void>(head);
    return std::nullopt;
  }
  // The request has come whole, serve() is next unless it is refused. May keep `permit` alive as
  // long as the request is unanswered: so nobody holds a place by sending slowly.
  virtual std::optional<response> enter(const request& request, std::shared_ptr<void>& permit) {
    static_cast<void>(request);
    static_cast<void>(permit);
    return std::nullopt;
  }
  virtual void serve(request_ptr request, responder answer) = 0;
};

}  // namespace troupe::server
