// Reads an answer of HTTP/1.1 of which only the status and the size of the body matter. The body
// has a content-length or comes in chunks; it is not kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::bench {

class http1_answer {
 public:
  // True once the answer is complete; then the next bytes begin another one. Throws
  // std::runtime_error if they are no answer, or if more bytes follow it: none were requested.
  bool read(std::string_view bytes);

  // Of the answer that is complete.
  int status() const noexcept { return status_; }
  std::size_t size() const noexcept { return size_; }

 private:
  bool read_head(std::string_view head);
  bool read_body(std::string_view bytes);
  bool read_chunks(std::string_view bytes);
  bool read_line(std::string_view line);

  enum class part { head, body, chunks, trailers };

  part part_ = part::head;
  std::string line_;      // an incomplete head, or an incomplete line between chunks
  std::size_t rest_ = 0;  // bytes missing of the body or of the chunk
  int status_ = 0;
  std::size_t size_ = 0;
};

}  // namespace troupe::bench
