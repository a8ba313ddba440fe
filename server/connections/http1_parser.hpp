// A parser of HTTP/1.1 requests from an untrusted peer. It uses Boost.Beast's parser, and adds the
// limits and the rules against request smuggling that Beast leaves to its user. Belongs to a
// connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "server/fwd.hpp"

namespace troupe::server {

class http1_parser {
 public:
  struct limits {
    std::size_t header_bytes = 0;
    std::size_t body_bytes = 0;
  };
  enum class step : std::uint8_t {
    need_more,  // all was parsed; call again with the unconsumed bytes and more
    head,       // the head is complete; call feed() again for the body
    complete,
    malformed,       // respond 400 and close; see `problem()`
    head_too_large,  // 431
    body_too_large,  // 413
    unsupported,     // 501: a transfer coding other than chunked
    bad_version,     // 505
  };
  struct result {
    http1_parser::step step;
    std::size_t consumed;
  };

  http1_parser();
  ~http1_parser();

  // Prepares for the next request, which is stored in `into`.
  void begin(request& into, const limits& bounds);
  result feed(std::string_view bytes);

  const char* problem() const noexcept;
  // -- valid after `head` -----------------------------------------------------------------------
  bool keep_alive() const noexcept;
  bool http10() const noexcept;
  bool expects_continue() const noexcept;
  // True if the rest of the body is known to be no longer than `bytes`.
  bool body_within(std::size_t bytes) const noexcept;
  // The number of body bytes received, kept or not.
  std::size_t body_bytes() const noexcept;
  // Reads the body and discards it.
  void drop_body() noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

// Splits a request target in origin or absolute form into the request's path and query; returns
// false for another form, or if the decoded path contains a NUL.
bool parse_target(std::string_view target, request& into);

}  // namespace troupe::server
