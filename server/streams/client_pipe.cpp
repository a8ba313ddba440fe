#include "server/streams/client_pipe.hpp"

#include <utility>

#include "server/streams/defaults.hpp"

namespace troupe::server {

// Counts received but unprocessed bytes. Shared by the connection's thread and the actor.
class client_pipe::inflow {
 public:
  // Returns false to pause until take() returns true.
  bool add(std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    waiting_ += bytes;
    full_ = full_ || waiting_ > defaults::stream_inflow_bytes;
    return !full_;
  }
  // Returns true if there is room again.
  bool take(std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    waiting_ -= bytes;
    if (!full_ || waiting_ > defaults::stream_inflow_bytes / 2) return false;
    full_ = false;
    return true;
  }

 private:
  std::mutex mutex_;
  std::size_t waiting_ = 0;
  bool full_ = false;
};

client_pipe client_pipe::open_tunnel(const responder& answer, std::string_view protocol,
                                     response head, runtime::actor_ref to) {
  client_pipe out;
  out.inflow_ = std::make_shared<inflow>();
  head.fields.push_back({"upgrade", std::string{protocol}});
  out.stream_ =
      answer.start_tunnel(std::move(head), {.writable = [to] { to.tell(client_writable{}); },
                                            .closed = [to] { to.tell(client_closed{}); },
                                            .received =
                                                [to, inflow = out.inflow_](std::string_view bytes) {
                                                  const bool more = inflow->add(bytes.size());
                                                  to.tell(client_bytes{std::string{bytes}});
                                                  return more;
                                                }});
  return out;
}

client_pipe client_pipe::open_websocket(const request& request, const responder& answer,
                                        const std::vector<std::string>& protocols,
                                        runtime::actor_ref to) {
  client_pipe out;
  out.inflow_ = std::make_shared<inflow>();
  out.socket_ =
      websocket::accept(request, answer, protocols,
                        {.message =
                             [to, inflow = out.inflow_](std::string payload, bool binary) {
                               const bool more = inflow->add(payload.size());
                               to.tell(client_bytes{std::move(payload), binary});
                               return more;
                             },
                         .writable = [to] { to.tell(client_writable{}); },
                         .ponged = [to] { to.tell(client_reads{}); },
                         .closed = [to] { to.tell(client_closed{}); }});
  return out;
}

bool client_pipe::write(std::string bytes, bool binary) const {
  return inflow_ && (stream_.open() ? stream_.write(std::move(bytes))
                                    : socket_.send(std::move(bytes), binary));
}

void client_pipe::consumed(std::size_t bytes) const {
  if (!inflow_ || !inflow_->take(bytes)) return;
  stream_.resume();
  socket_.resume();
}

void client_pipe::close() const {
  stream_.close();
  socket_.close();
}

}  // namespace troupe::server
