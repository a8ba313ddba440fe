#include "server/http/compression.hpp"

#include <zlib.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "api/values/text_parts.hpp"
#include "server/defaults.hpp"
#include "server/http/body_reader.hpp"

namespace troupe::server {
namespace {

constexpr int gzip_window_bits = 15 + 16;  // zlib: 16 selects the gzip format
constexpr int memory_level = 8;            // zlib's default

std::atomic<std::size_t> under_way{0};

// A slot for one of the responses compressed at the same time; converts to false if none is free.
class place {
 public:
  place() : taken_{under_way.fetch_add(1) < defaults::compressions} {}
  place(place&& other) noexcept : held_{std::exchange(other.held_, false)}, taken_{other.taken_} {}
  ~place() {
    if (held_) under_way.fetch_sub(1);
  }
  explicit operator bool() const noexcept { return taken_; }

 private:
  bool held_ = true;
  bool taken_;
};

// The source of a compressed body.
class gzip_stream {
 public:
  gzip_stream(body source, place held) : held_{std::move(held)}, source_{std::move(source)} {
    if (deflateInit2(&state_, Z_BEST_SPEED, Z_DEFLATED, gzip_window_bits, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc{};
  }
  ~gzip_stream() { deflateEnd(&state_); }
  gzip_stream(const gzip_stream&) = delete;
  gzip_stream& operator=(const gzip_stream&) = delete;

  // Compresses the next part; returns false after the last one.
  bool add(body& to) {
    out_.clear();
    const bool more = source_.read(
        defaults::compress_part, [this](std::string_view part) { deflate_all(part, Z_NO_FLUSH); });
    if (!more) deflate_all({}, Z_FINISH);
    to.add(std::string_view{out_});
    return more;
  }

 private:
  void deflate_all(std::string_view text, int flush) {
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    state_.avail_in = static_cast<uInt>(text.size());
    do {
      const auto used = out_.size();
      out_.resize(used + defaults::compress_buffer);
      state_.next_out = reinterpret_cast<Bytef*>(out_.data() + used);
      state_.avail_out = static_cast<uInt>(defaults::compress_buffer);
      deflate(&state_, flush);
      out_.resize(out_.size() - state_.avail_out);
    } while (state_.avail_out == 0);
  }

  const place held_;
  body_reader source_;
  std::string out_;
  z_stream state_{};
};

}  // namespace

bool takes_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const auto clause = api::take_part(accept_encoding, ',');
    const auto name = api::trimmed(clause.substr(0, clause.find(';')), " \t");
    if (name != "gzip" && name != "*") continue;
    const auto quality = clause.find("q=");
    return quality == clause.npos ||
           std::strtod(std::string{clause.substr(quality + 2)}.c_str(), nullptr) > 0;
  }
  return false;
}

void compress(response& answer) {
  if (!answer.content.has_rest() && answer.content.size_bytes() < defaults::compress_from) return;
  place free;
  if (!free) return;
  const auto stream =
      std::make_shared<gzip_stream>(std::exchange(answer.content, {}), std::move(free));
  answer.content.continue_with([stream](body& to) { return stream->add(to); });
  answer.fields.push_back({"content-encoding", "gzip"});
  answer.fields.push_back({"vary", "accept-encoding"});
}

}  // namespace troupe::server
