// The HTTP interface of handlers, the same for HTTP/1.1 and HTTP/2, with and without TLS.
//
// A handler gets complete requests: headers checked, body read and within its limit, user
// authenticated and authorized. It is called on an I/O thread, must not block, and responds through
// its responder at once or later, from any thread. The client always gets one response: a responder
// destroyed without a response sends a 500, one not used within the request time-out sends a 504.
// Responses after the client is gone are dropped.
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
  std::string local;  // the address to which the client connected
  bool secure = false;
  std::uint64_t address =
      0;  // of the peer, see address_of() in connections/unauthenticated_connections.hpp
  // From the verified client certificate: CN and O. Null if none was presented.
  user_ptr certificate_user;
  // "sha256:" and the hex hash of that certificate's public key.
  std::string certificate_key_hash;
  // Why the presented certificate was refused; empty if none was presented or it is valid.
  std::string certificate_error;
};

// Owned by one thread at a time: the I/O thread until serve(), then the owner of the pointer.
struct request {
  // Practically unique in the life of the cluster; sent as the Audit-Id header.
  std::uint64_t id = 0;
  http_method method = http_method::get;
  std::string method_text;  // as sent, for `other`
  std::string path;         // percent-decoded, begins with '/', without NUL
  query_string query;
  bool empty_query = false;  // the target ends with a '?'
  header_block headers;
  // At most http_options::body_limit_bytes; empty for GET and HEAD, whose bodies are discarded.
  std::string content;
  std::shared_ptr<const connection_info> connection;
  // Set by auth_filter.
  user_ptr user;
  user_ptr impersonator;  // authenticated user who impersonates `user`; else null
  request_info info;
  // No time-out, and not counted as in flight: watches, log --follow, upgrades.
  bool long_running = false;
  std::chrono::steady_clock::time_point received;
};

// A field of a response. `name` is in lower case, and a literal or owned by response::names.
struct field {
  std::string_view name;
  std::string value;
};

struct response {
  int status = 200;
  std::string content_type;
  // Except content-type, content-length and date, which the transport sets. cache-control is
  // "no-cache, private" (as upstream) unless it is set here.
  std::vector<field> fields;
  std::shared_ptr<const void> names;  // owns names that are not literals
  server::body content;
};

// The callbacks of a stream; called on its I/O thread, must not block.
struct stream_events {
  // Called when there is room again after write() returned false.
  std::function<void()> writable;
  // Called once, last: the client is gone, was too slow, or close() was called.
  std::function<void()> closed;
  // Only for a tunnel: bytes of the client, in order. Return false to pause until stream::resume().
  std::function<bool(std::string_view bytes)> received = nullptr;
};

// A response of unknown length. A handle: copies refer to the same stream, which is closed when the
// last one is destroyed. Thread safe.
class stream {
 public:
  stream() = default;

  // Chunks are sent in order. Returns false if more than
  // `http_options::stream_buffer_bytes` wait: wait for `writable`; the chunk was accepted.
  // With four times as much the stream is cut off. On a closed stream returns false and
  // drops the chunk.
  bool write(shared_text chunk) const;
  bool write(std::string chunk) const;
  bool write(std::string_view chunk, shared_text owner) const;
  // Ends the response regularly once all chunks have been sent.
  void close() const;
  // Ends it so that the client can see that it is incomplete; waiting bytes may be lost.
  void cut() const;
  bool open() const noexcept;
  // The bytes that were written but not sent yet.
  std::size_t waiting_bytes() const noexcept;
  // Only for a tunnel: resumes calls of `received`.
  void resume() const;

 private:
  friend class responder;
  explicit stream(std::shared_ptr<class stream_duty> duty) : duty_{std::move(duty)} {}
  std::shared_ptr<class stream_duty> duty_;
};

// The obligation to respond to one request. A handle; when the last copy is destroyed without a
// response the client gets a 500. Thread safe; the first response wins.
class responder {
 public:
  responder() = default;
  explicit responder(std::shared_ptr<class exchange_duty> duty) : duty_{std::move(duty)} {}

  void respond(response answer) const;
  // For responses that would block the current thread: runs `work`, which creates and sends the
  // response, on the connection's thread. Runs even if the client is gone.
  void run(std::function<void()> work) const;
  // Sends the head at once; `head.content` is the stream's first chunk.
  stream start_stream(response head, stream_events events) const;
  // Responds 101 with the fields of `head`, including `upgrade`; from then on the connection
  // transfers bytes of another protocol in both directions: to `received`, and from the stream
  // unchanged. HTTP/1.1 only: over HTTP/2 the stream is reset with HTTP_1_1_REQUIRED.
  stream start_tunnel(response head, stream_events events) const;
  // The client is gone: work for the response may stop.
  bool gone() const noexcept;

 private:
  std::shared_ptr<class exchange_duty> duty_;
};

// Handlers are called on several I/O threads concurrently.
class handler {
 public:
  virtual ~handler() = default;

  // Called with the head of a request, before its body is read: a refusal is sent at once and the
  // body is never buffered. May set `user` and `long_running`.
  virtual std::optional<response> admit(request& head) {
    static_cast<void>(head);
    return std::nullopt;
  }
  // Called with the complete request, before serve(). May set `permit`, which lives until the
  // response: so a client that sends slowly does not hold a seat.
  virtual std::optional<response> enter(const request& request, std::shared_ptr<void>& permit) {
    static_cast<void>(request);
    static_cast<void>(permit);
    return std::nullopt;
  }
  virtual void serve(request_ptr request, responder answer) = 0;
};

}  // namespace troupe::server
