#include "actors/kubelet/runtimes/cri/stream_session.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

namespace troupe::actors {

namespace {

constexpr std::size_t answer_limit = 16u << 10;
constexpr std::string_view scheme = "http://";

struct place {
  sockaddr_in address{};
  std::string host, path;
};

// The server listens on an address of this machine; its URL never contains a host name.
std::optional<place> parse_url(std::string_view url) {
  if (!url.starts_with(scheme)) return std::nullopt;
  url.remove_prefix(scheme.size());
  const auto slash = url.find('/');
  const auto host = url.substr(0, slash);
  const auto colon = host.rfind(':');
  if (slash == url.npos || colon == host.npos) return std::nullopt;
  place out{.host = std::string{host}, .path = std::string{url.substr(slash)}};
  std::uint16_t port = 0;
  const auto digits = host.substr(colon + 1);
  if (std::from_chars(digits.data(), digits.data() + digits.size(), port).ec != std::errc{})
    return std::nullopt;
  out.address.sin_family = AF_INET;
  out.address.sin_port = htons(port);
  const std::string ip{host.substr(0, colon)};
  if (::inet_pton(AF_INET, ip.c_str(), &out.address.sin_addr) != 1) return std::nullopt;
  return out;
}

}  // namespace

stream_session::stream_session(std::shared_ptr<event_loop> loop, runtime::unique_fd socket)
    : loop_{std::move(loop)},
      socket_{std::make_shared<duplex_socket>(loop_, std::move(socket),
                                              kubelet_defaults::stream_part_bytes)} {}

void stream_session::open(std::shared_ptr<event_loop> loop, const std::string& url,
                          const std::string& protocol, std::vector<stream_opening> streams,
                          opened done, std::chrono::milliseconds limit) {
  const auto failed = [](std::string reason) { return tl::make_unexpected(std::move(reason)); };
  const auto at = parse_url(url);
  if (!at) return done(failed(fmt::format("the runtime's stream URL has no address: {}", url)));
  runtime::unique_fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const auto* address = reinterpret_cast<const sockaddr*>(&at->address);
  // A local connection is accepted or refused at once; if it is still pending, the first write
  // waits for it.
  if (!socket ||
      (::connect(socket.get(), address, sizeof at->address) != 0 && errno != EINPROGRESS))
    return done(failed(fmt::format("cannot reach the runtime's streams at {}: {}", at->host,
                                   std::strerror(errno))));
  auto session = std::make_shared<stream_session>(loop, std::move(socket));
  session->opened_ = std::move(done);
  session->deadline_ = loop->after(limit, [weak = session->weak_from_this()] {
    if (const auto self = weak.lock()) self->fail("the runtime does not open the streams in time");
  });
  session->shake_hands(fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\n"
                                   "Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: {}\r\n"
                                   "Content-Length: 0\r\n\r\n",
                                   at->path, at->host, protocol),
                       std::move(streams));
}

void stream_session::shake_hands(std::string head, std::vector<stream_opening> streams) {
  socket_->write({std::move(head)}, [self = shared_from_this(), streams](bool well) {
    if (!well) return self->fail("the runtime's streams cannot be reached");
    self->await_answer(streams);
  });
}

void stream_session::await_answer(std::vector<stream_opening> streams) {
  socket_->read([self = shared_from_this(), streams](const std::string& bytes) {
    self->answer_ += bytes;
    const auto end = self->answer_.find("\r\n\r\n");
    if (end == std::string::npos && !bytes.empty() && self->answer_.size() < answer_limit)
      return self->await_answer(streams);
    if (end == std::string::npos || !self->answer_.starts_with("HTTP/1.1 101"))
      return self->fail(fmt::format("the runtime refuses the streams: {}",
                                    self->answer_.substr(0, self->answer_.find("\r\n"))));
    self->open_streams(streams);
    self->take(std::string_view{self->answer_}.substr(end + 4));
    self->succeed();
  });
}

void stream_session::succeed() {
  loop_->cancel(deadline_);
  if (const auto done = std::exchange(opened_, nullptr)) done(shared_from_this());
}

void stream_session::fail(std::string reason) {
  loop_->cancel(deadline_);
  close();
  if (const auto done = std::exchange(opened_, nullptr))
    done(tl::make_unexpected(std::move(reason)));
}

void stream_session::open_streams(const std::vector<stream_opening>& streams) {
  std::uint32_t next = 1;
  std::deque<std::string> frames;
  for (const auto& each : streams) {
    spdy_headers head{{"streamtype", each.type}};
    head.insert(head.end(), each.more.begin(), each.more.end());
    ids_[each.type] = next;
    types_[next] = each.type;
    frames.push_back(
        writer_.write({.type = spdy_type::syn_stream, .stream = next, .headers = std::move(head)}));
    next += 2;
  }
  outgoing_.push_back({std::move(frames), [](bool) {}});
  push();
}

void stream_session::take(std::string_view bytes) {
  if (reader_.feed(bytes, [this](const spdy_frame& frame) { take(frame); })) ended_ = true;
}

void stream_session::take(const spdy_frame& frame) {
  if (frame.type == spdy_type::ping) {
    outgoing_.push_back(
        {{writer_.write({.type = spdy_type::ping, .stream = frame.stream})}, [](bool) {}});
    return push();
  }
  if (frame.type == spdy_type::goaway) ended_ = true;
  const auto of = types_.find(frame.stream);
  if (of == types_.end()) return;
  const bool closed = frame.type == spdy_type::rst_stream || frame.last;
  if (!frame.data.empty() || closed) add_part(of->second, frame.data, closed);
}

// Unread frames of one stream are merged into one part.
void stream_session::add_part(const std::string& stream, std::string_view bytes, bool last) {
  if (parts_.empty() || parts_.back().stream != stream || parts_.back().last)
    parts_.push_back({stream, {}, false});
  parts_.back().bytes += bytes;
  parts_.back().last = last;
}

void stream_session::read(std::function<void(part)> done) {
  asked_ = std::move(done);
  pull();
}

void stream_session::pull() {
  if (!asked_ || reading_) return;
  if (parts_.empty() && !ended_) {
    reading_ = true;
    return socket_->read([self = shared_from_this()](const std::string& bytes) {
      self->reading_ = false;
      self->ended_ |= bytes.empty();
      if (!bytes.empty()) self->take(bytes);
      self->pull();
    });
  }
  part next;
  if (!parts_.empty()) {
    next = std::move(parts_.front());
    parts_.pop_front();
  }
  std::exchange(asked_, nullptr)(std::move(next));
}

void stream_session::write(const std::string& stream, std::string bytes, bool last,
                           std::function<void(bool)> done) {
  const auto id = ids_.find(stream);
  if (id == ids_.end()) return done(false);
  outgoing next{{}, std::move(done)};
  for (std::size_t at = 0; at == 0 || at < bytes.size(); at += spdy_data_limit) {
    const auto part = bytes.substr(at, spdy_data_limit);
    const bool end = at + spdy_data_limit >= bytes.size();
    next.bytes.push_back(spdy_data_head(id->second, part.size(), last && end) + part);
  }
  outgoing_.push_back(std::move(next));
  push();
}

void stream_session::push() {
  if (writing_ || outgoing_.empty()) return;
  writing_ = true;
  auto next = std::move(outgoing_.front());
  outgoing_.pop_front();
  socket_->write(std::move(next.bytes),
                 [self = shared_from_this(), done = std::move(next.done)](bool well) {
                   self->writing_ = false;
                   done(well);
                   self->push();
                 });
}

}  // namespace troupe::actors
