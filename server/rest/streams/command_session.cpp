#include "server/rest/streams/command_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "server/streams/defaults.hpp"

namespace troupe::server {
namespace {

using api::meta::v1::Status;

Status success() {
  Status out;
  out.mutable_metadata();
  out.set_status("Success");
  return out;
}

// kubernetes: kubelet/pkg/cri/streaming/remotecommand/exec.go, ServeExec.
Status ended_with(int code) {
  Status out;
  out.mutable_metadata();
  out.set_status("Failure");
  out.set_reason("NonZeroExitCode");
  out.set_message(fmt::format("command terminated with non-zero exit code: exit code {}", code));
  auto& cause = *out.mutable_details()->add_causes();
  cause.set_reason("ExitCode");
  cause.set_message(std::to_string(code));
  return out;
}

Status failure(std::string message) {
  Status out;
  out.mutable_metadata();
  out.set_status("Failure");
  out.set_reason("InternalError");
  out.set_message(std::move(message));
  out.mutable_details()->add_causes()->set_message(out.message());
  out.set_code(500);
  return out;
}

}  // namespace

command_session::command_session(call_ptr call, command_target target)
    : call_{std::move(call)}, target_{std::move(target)} {}

command_session::~command_session() {
  if (client_) client_->pipe().close();
}

const runtime::behavior& command_session::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &command_session::on_client_bytes, &command_session::on_client_writable,
      &command_session::on_client_reads, &command_session::on_client_closed,
      &command_session::on_opened, &command_session::on_part_read, &command_session::on_written);
  return table;
}

void command_session::started() {
  client_ = accept_command(*call_->request, call_->take_over(101), target_.channels, self());
  if (!client_) return stop();
  late_ = after(defaults::stream_creation, [this] { stop(); });
  unanswered_ = after(defaults::stream_ping_answer, [this] { on_client_reads({}); });
  idle_ = every(defaults::stream_idle, [this] {
    if (!std::exchange(active_, false)) stop();
  });
  open();
}

std::string command_session::describe() const {
  return fmt::format("user: {}\ncontainer: {}\nattaches: {}\ntty: {}\nwaitsForClient: {}\n",
                     call_->request->user ? call_->request->user->name : "", target_.container,
                     attaches(), target_.channels.tty, full_);
}

void command_session::open() {
  if (asked_ || !client_->ready()) return;
  asked_ = true;
  late_.cancel();
  unanswered_.cancel();
  auto done = [to = self()](exec_result result) {
    to.tell(opened{std::make_shared<exec_result>(std::move(result))});
  };
  if (attaches())
    target_.source->attach(target_.container_id, target_.request, std::move(done));
  else
    target_.source->open_exec(target_.container_id, target_.request, std::move(done));
}

// -- from the client ------------------------------------------------------------------------------

void command_session::on_client_bytes(const client_bytes& m) {
  active_ = true;
  const auto before = input_.size();
  const auto wrong = client_->take(m, {.input =
                                           [this](std::string_view bytes) {
                                             if (!input_closed_ && !input_ended_ && !finished_)
                                               input_ += bytes;
                                           },
                                       .input_ended = [this] { input_ended_ = true; },
                                       .resized =
                                           [this](int rows, int columns) {
                                             size_ = {rows, columns};
                                             if (stream_) stream_->resize(rows, columns);
                                           }});
  if (wrong) return stop();
  client_->pipe().consumed(m.bytes.size() - (input_.size() - before));
  open();
  write();
}

void command_session::on_client_writable(const client_writable&) {
  full_ = false;
  read();
}

void command_session::on_client_reads(const client_reads&) {
  client_->reads();
  open();
}

// Client libraries close after sending everything; the sent data still counts.
void command_session::on_client_closed(const client_closed&) {
  if (!asked_ || finished_ || attaches()) return stop();
  client_gone_ = input_ended_ = true;
  full_ = false;
  late_ = after(defaults::stream_farewell, [this] { stop(); });
  read();
  write();
}

// -- the command ----------------------------------------------------------------------------------

void command_session::on_opened(const opened& m) {
  if (!*m.result) {
    const auto& problem = m.result->error().message;
    return finish(failure(attaches() ? "error attaching to container: " + problem
                                     : "error executing command in container: " + problem));
  }
  stream_ = std::move(**m.result);
  client_->opened();
  if (size_) stream_->resize(size_->rows, size_->columns);
  read();
  write();
}

void command_session::read() {
  if (!stream_ || reading_ || full_ || finished_) return;
  reading_ = true;
  stream_->read([to = self()](actors::exec_part part) { to.tell(part_read{std::move(part)}); });
}

void command_session::on_part_read(const part_read& m) {
  using kind = actors::exec_part::kind;
  reading_ = false;
  active_ = true;
  if (finished_) return;
  if (m.part.from == kind::ended) return client_gone_ ? stop() : finish(m.part);
  if (client_gone_) return read();
  const bool error = m.part.from == kind::error;
  if (error ? target_.channels.error : target_.channels.output)
    full_ = !client_->write(error ? command_channel::error : command_channel::output, m.part.bytes);
  read();
}

void command_session::write() {
  if (!stream_ || writing_ != 0 || input_closed_ || finished_) return;
  if (!input_.empty()) {
    writing_ = input_.size();
    return stream_->write(std::exchange(input_, {}),
                          [to = self()](bool taken) { to.tell(written{taken}); });
  }
  if (!input_ended_) return;
  input_closed_ = true;
  stream_->close_input();
}

void command_session::on_written(const written& m) {
  client_->pipe().consumed(std::exchange(writing_, 0));
  if (finished_) return;
  if (!m.taken) {
    // The command reads no more: further input of the client is discarded.
    input_closed_ = true;
    client_->pipe().consumed(std::exchange(input_, {}).size());
  }
  write();
}

void command_session::finish(const actors::exec_part& end) {
  if (!end.bytes.empty()) return finish(failure("the connection with the container: " + end.bytes));
  // The exit status of the container's process is in the pod's status.
  finish(attaches() || end.code == 0 ? success() : ended_with(end.code));
}

void command_session::finish(const Status& status) {
  finished_ = true;
  stream_.reset();
  client_->finish(status);
  client_->pipe().consumed(std::exchange(input_, {}).size() + std::exchange(writing_, 0));
  late_ = after(defaults::stream_linger, [this] { stop(); });
}

}  // namespace troupe::server
