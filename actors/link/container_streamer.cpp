#include "actors/link/container_streamer.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "actors/link/defaults.hpp"
#include "actors/link/stream_frames.hpp"

namespace troupe::actors {

namespace {

// Limit of a terminal's window size (struct winsize).
constexpr std::uint32_t window_size_limit = 65'535;

// A port as an exec stream: when the connection ends, so does the stream, with code 0.
class port_as_command final : public exec_stream {
 public:
  explicit port_as_command(std::unique_ptr<port_stream> port) : port_{std::move(port)} {}

  void read(std::function<void(exec_part)> done) override {
    port_->read([done = std::move(done)](std::string bytes) {
      const auto from = bytes.empty() ? exec_part::kind::ended : exec_part::kind::output;
      done({from, std::move(bytes)});
    });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    port_->write(std::move(bytes), std::move(done));
  }
  void close_input() override { port_->close_input(); }
  void resize(int, int) override {}

 private:
  const std::unique_ptr<port_stream> port_;
};

std::unique_ptr<exec_stream> as_command(std::unique_ptr<exec_stream> stream) {
  return stream;
}
std::unique_ptr<exec_stream> as_command(std::unique_ptr<port_stream> stream) {
  return std::make_unique<port_as_command>(std::move(stream));
}

}  // namespace

container_streamer::container_streamer(std::uint64_t ask, stream_target target,
                                       std::uint32_t credit, std::shared_ptr<stream_source> source,
                                       runtime::actor_ref gateway)
    : ask_{ask},
      target_{std::move(target)},
      source_{std::move(source)},
      gateway_{std::move(gateway)},
      credit_{credit} {}

const runtime::behavior& container_streamer::make_behavior() const {
  static const auto table =
      runtime::handlers(&container_streamer::on_stream_ready, &container_streamer::on_part_read,
                        &container_streamer::on_input_written, &container_streamer::on_input,
                        &container_streamer::on_end_input, &container_streamer::on_resize,
                        &container_streamer::on_more_output, &container_streamer::on_output_sent);
  return table;
}

// A stream that is opened after the end of this actor is destroyed with the message.
void container_streamer::started() {
  const auto done = [to = self()](auto opened) {
    if (!opened) return void(to.tell(stream_ready{tl::make_unexpected(opened.error())}));
    to.tell(stream_ready{std::shared_ptr<exec_stream>{as_command(std::move(*opened))}});
  };
  switch (target_.to) {
    case stream_target::kind::exec:
      return source_->open_exec(target_.container, target_.exec, done);
    case stream_target::kind::attach:
      return source_->attach(target_.container, target_.exec, done);
    case stream_target::kind::port:
      return source_->forward_port(target_.pod_uid, target_.port, done);
  }
}

// Without the command, which may contain secrets.
std::string container_streamer::describe() const {
  constexpr std::array kinds{"exec", "attach", "port"};
  return fmt::format("to: {}\ncontainer: {}\npod: {}\nport: {}\ntty: {}\ncredit: {}\ninput: {}\n",
                     kinds.at(static_cast<std::size_t>(target_.to)), target_.container,
                     target_.pod_uid, target_.port, target_.exec.tty, credit_, input_.size());
}

// -- from the stream ------------------------------------------------------------------------------

void container_streamer::on_stream_ready(const stream_ready& m) {
  wire::StreamOpened out;
  out.set_ask(ask_);
  if (!m.result) {
    write_refusal(*out.mutable_refusal(), m.result.error());
    say(std::move(out));
    return stop();
  }
  stream_ = *m.result;
  out.set_credit(link_defaults::stream_window_bytes);
  say(std::move(out));
  read();
  write();
}

void container_streamer::on_part_read(const part_read& m) {
  reading_ = false;
  part_ = m.part;
  if (part_.from != exec_part::kind::ended) return part_.bytes.empty() ? read() : send_piece();
  wire::StreamEnded out;
  out.set_ask(ask_);
  out.set_code(part_.code);
  out.set_problem(part_.bytes);
  say(std::move(out));
  stop();
}

void container_streamer::on_input_written(const input_written& m) {
  wire::InputTaken out;
  out.set_ask(ask_);
  out.set_bytes(static_cast<std::uint32_t>(std::exchange(writing_, 0)));
  out.set_refused(!m.well);
  say(std::move(out));
  if (!m.well) {
    input_over_ = true;
    input_.clear();
  }
  write();
}

// -- from the gateway -----------------------------------------------------------------------------

void container_streamer::on_input(const wire::StreamInput& m) {
  if (input_over_) return;
  input_ += m.text();
  write();
}

void container_streamer::on_end_input(const wire::EndInput&) {
  end_wanted_ = true;
  write();
}

void container_streamer::on_resize(const wire::ResizeStream& m) {
  if (!stream_) return;
  stream_->resize(static_cast<int>(std::min(m.rows(), window_size_limit)),
                  static_cast<int>(std::min(m.columns(), window_size_limit)));
}

void container_streamer::on_more_output(const wire::MoreOutput& m) {
  credit_ += m.credit();
  read();
}

void container_streamer::on_output_sent(const output_sent&) {
  sending_ = false;
  read();
}

// If the gateway's mailbox is full the message is lost, so the stream ends.
template <class Item>
void container_streamer::say(Item item) {
  if (!tell(gateway_, std::move(item))) stop();
}

// -- both directions ------------------------------------------------------------------------------

void container_streamer::read() {
  if (!stream_ || reading_ || sending_ || credit_ == 0) return;
  if (!part_.bytes.empty()) return send_piece();
  reading_ = true;
  stream_->read([to = self()](exec_part part) { to.tell(part_read{std::move(part)}); });
}

// Bytes are read and sent only within the credit.
void container_streamer::send_piece() {
  const auto size =
      std::min<std::size_t>({credit_, part_.bytes.size(), link_defaults::stream_piece_bytes});
  wire::StreamOutput out;
  out.set_ask(ask_);
  out.set_text(part_.bytes.substr(0, size));
  out.set_error(part_.from == exec_part::kind::error);
  part_.bytes.erase(0, size);
  credit_ -= size;
  sending_ = true;
  say(std::move(out));
}

// One piece at a time: after its acknowledgement the control plane may send the next.
void container_streamer::write() {
  if (!stream_ || writing_ != 0) return;
  if (input_.empty()) {
    if (end_wanted_ && !std::exchange(input_over_, true)) stream_->close_input();
    return;
  }
  auto piece = input_.substr(0, link_defaults::stream_piece_bytes);
  input_.erase(0, piece.size());
  writing_ = piece.size();
  stream_->write(std::move(piece), [to = self()](bool well) { to.tell(input_written{well}); });
}

}  // namespace troupe::actors
