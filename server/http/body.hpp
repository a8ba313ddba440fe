// The content of a response: pieces of text with shared owners, so that a list of a thousand
// cached objects is sent without copying them. Not thread safe; the text of pieces must not
// change.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object/shared_text.hpp"

namespace troupe::server {

using api::shared_text;

struct piece {
  std::string_view text;
  // Keeps `text` alive; empty if it is static.
  shared_text owner;
};

class body {
 public:
  body() = default;
  body(const std::string& text) { add(text); }      // NOLINT: a text is a body
  body(shared_text text) { add(std::move(text)); }  // NOLINT: a text is a body

  void add(std::string_view made);  // copies it
  void add(shared_text text);
  void add(std::string_view text, shared_text owner);
  // `text` must be static, e.g. a literal.
  void add_static(std::string_view text);
  void reserve(std::size_t pieces) { pieces_.reserve(pieces); }

  // Adds a producer of further pieces: when the pieces have been sent, `rest` is called on the
  // connection's thread until it returns false. It may add nothing and be called again.
  using more = std::function<bool(body& to)>;
  void continue_with(more rest) { rest_ = std::move(rest); }
  more release_rest() noexcept { return std::exchange(rest_, nullptr); }
  // False: size_bytes() is the final size.
  bool has_rest() const noexcept { return rest_ != nullptr; }

  std::size_t size_bytes() const noexcept { return size_bytes_; }
  bool empty() const noexcept { return size_bytes_ == 0; }
  const std::vector<piece>& pieces() const noexcept { return pieces_; }
  // Moves the pieces out; this body is empty then.
  std::vector<piece> release() noexcept;
  // A copy in one string, for tests and small texts.
  std::string text() const;

 private:
  std::vector<piece> pieces_;  // none is empty
  std::size_t size_bytes_ = 0;
  more rest_;
};

}  // namespace troupe::server
