// Commands, consoles and ports of the CRI runtime, over a connection to its streaming server.
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <charconv>

#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "actors/kubelet/runtimes/cri/stream_session.hpp"
#include "api/schema/meta_request.pb.h"

namespace troupe::actors {

namespace {

// Owns the session; its destructor closes the connection.
class session_owner {
 public:
  session_owner(std::shared_ptr<event_loop> loop, std::shared_ptr<stream_session> session)
      : loop_{std::move(loop)}, session_{std::move(session)} {}
  ~session_owner() {
    loop_->defer([session = session_] { session->close(); });
  }
  template <class Action>
  void on_loop(Action action) {
    loop_->defer([session = session_, action = std::move(action)] { action(session); });
  }

 private:
  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<stream_session> session_;
};

class cri_exec_stream final : public exec_stream {
 public:
  using session = std::shared_ptr<stream_session>;

  cri_exec_stream(std::shared_ptr<event_loop> loop, session of)
      : owner_{std::move(loop), std::move(of)} {}

  void read(std::function<void(exec_part)> done) override {
    owner_.on_loop([state = state_, done = std::move(done)](const session& from) {
      read_next(from, state, done);
    });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    owner_.on_loop([bytes = std::move(bytes), done = std::move(done)](const session& to) {
      to->write("stdin", bytes, false, done);
    });
  }
  void close_input() override {
    owner_.on_loop([](const session& to) { to->write("stdin", {}, true, [](bool) {}); });
  }
  void resize(int rows, int columns) override {
    owner_.on_loop([rows, columns](const session& to) {
      to->write("resize", fmt::format("{{\"Width\":{},\"Height\":{}}}", columns, rows), false,
                [](bool) {});
    });
  }

 private:
  struct state {
    std::string status;  // received text of the error stream
    std::optional<exec_part> end;
  };

  static void read_next(const session& from, const std::shared_ptr<state>& state,
                        const std::function<void(exec_part)>& done) {
    if (state->end) return done(*state->end);
    from->read([from, state, done](stream_session::part part) {
      if (part.stream == "error") state->status += part.bytes;
      if (part.stream.empty() || (part.stream == "error" && part.last))
        state->end = read_status(state->status);
      if (part.stream == "stdout" && !part.bytes.empty())
        return done({exec_part::kind::output, std::move(part.bytes)});
      if (part.stream == "stderr" && !part.bytes.empty())
        return done({exec_part::kind::error, std::move(part.bytes)});
      read_next(from, state, done);
    });
  }

  const std::shared_ptr<state> state_ = std::make_shared<state>();
  session_owner owner_;
};

class cri_port_stream final : public port_stream {
 public:
  using session = std::shared_ptr<stream_session>;

  cri_port_stream(std::shared_ptr<event_loop> loop, session of)
      : owner_{std::move(loop), std::move(of)} {}

  void read(std::function<void(std::string)> done) override {
    owner_.on_loop([done = std::move(done)](const session& from) { read_next(from, done); });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    owner_.on_loop([bytes = std::move(bytes), done = std::move(done)](const session& to) {
      to->write("data", bytes, false, done);
    });
  }
  void close_input() override {
    owner_.on_loop([](const session& to) { to->write("data", {}, true, [](bool) {}); });
  }

 private:
  // An error of the runtime ends the connection: its client sees a closed port.
  static void read_next(const session& from, const std::function<void(std::string)>& done) {
    from->read([from, done](stream_session::part part) {
      const bool failed = part.stream == "error" && !part.bytes.empty();
      if (part.stream.empty() || failed || (part.stream == "data" && part.last))
        return done(part.stream == "data" ? std::move(part.bytes) : std::string{});
      if (part.stream == "data") return done(std::move(part.bytes));
      read_next(from, done);
    });
  }

  session_owner owner_;
};

runtime_error stream_error(std::string message, const grpc_code code = grpc_code::unknown) {
  return {
      code == grpc_code::not_found ? runtime_error::kind::not_found : runtime_error::kind::failed,
      std::move(message)};
}

// Asks the runtime for the URL of the streams, then opens them.
template <class Stream, class Make>
auto opener(std::shared_ptr<event_loop> loop, std::string protocol,
            std::vector<stream_opening> streams, runtime_answer<std::unique_ptr<Stream>> done,
            Make make) {
  return [=](const cri_result<cri::Url>& where) {
    if (!where)
      return done(tl::make_unexpected(stream_error(where.error().message, where.error().code)));
    stream_session::open(loop, where->url(), protocol, streams, [loop, done, make](auto session) {
      if (!session) return done(tl::make_unexpected(stream_error(session.error())));
      done(make(loop, *session));
    });
  };
}

}  // namespace

exec_part read_status(const std::string& text) {
  exec_part end{exec_part::kind::ended};
  api::meta::v1::Status status;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  if (!google::protobuf::util::JsonStringToMessage(text, &status, options).ok()) {
    end.bytes = text.empty() ? "the connection with the container runtime was lost" : text;
    return end;
  }
  if (status.status() == "Success") return end;
  for (const auto& cause : status.details().causes()) {
    const auto& code = cause.message();
    if (cause.reason() == "ExitCode" &&
        std::from_chars(code.data(), code.data() + code.size(), end.code).ec == std::errc{})
      return end;
  }
  end.bytes = status.message().empty() ? "the container runtime does not say how the command ended"
                                       : status.message();
  return end;
}

std::vector<stream_opening> exec_openings(const exec_request& request) {
  std::vector<stream_opening> out;
  const auto add = [&](const char* type) { out.push_back({.type = type}); };
  add("error");
  if (request.input) add("stdin");
  add("stdout");
  add(request.tty ? "resize" : "stderr");
  return out;
}

std::vector<stream_opening> port_openings(int port) {
  const spdy_headers head{{"port", std::to_string(port)}, {"requestid", "0"}};
  return {{"error", head}, {"data", head}};
}

std::unique_ptr<exec_stream> make_exec_stream(std::shared_ptr<event_loop> loop,
                                              std::shared_ptr<stream_session> session) {
  return std::make_unique<cri_exec_stream>(std::move(loop), std::move(session));
}

std::unique_ptr<port_stream> make_port_stream(std::shared_ptr<event_loop> loop,
                                              std::shared_ptr<stream_session> session) {
  return std::make_unique<cri_port_stream>(std::move(loop), std::move(session));
}

// Request exactly the streams that are opened: the runtime waits for all of them.
void cri_runtime::open_exec(const std::string& id, exec_request request,
                            runtime_answer<std::unique_ptr<exec_stream>> done) {
  cri::ExecRequest ask;
  ask.set_container_id(server_id(id));
  ask.mutable_cmd()->Assign(request.command.begin(), request.command.end());
  ask.set_tty(request.tty);
  ask.set_stdin(request.input);
  ask.set_stdout(true);
  ask.set_stderr(!request.tty);
  client_->runtime<cri::Url>("Exec", ask,
                             opener<exec_stream>(loop_, "v4.channel.k8s.io", exec_openings(request),
                                                 std::move(done), &make_exec_stream));
}

void cri_runtime::attach(const std::string& id, exec_request request,
                         runtime_answer<std::unique_ptr<exec_stream>> done) {
  cri::AttachRequest ask;
  ask.set_container_id(server_id(id));
  ask.set_tty(request.tty);
  ask.set_stdin(request.input);
  ask.set_stdout(true);
  ask.set_stderr(!request.tty);
  client_->runtime<cri::Url>("Attach", ask,
                             opener<exec_stream>(loop_, "v4.channel.k8s.io", exec_openings(request),
                                                 std::move(done), &make_exec_stream));
}

void cri_runtime::forward_port(const std::string& pod_uid, int port,
                               runtime_answer<std::unique_ptr<port_stream>> done) {
  list_sandboxes(pod_uid, [this, port, done](const auto& found) {
    if (!found) return done(tl::make_unexpected(stream_error(found.error().message)));
    if (found->empty() || found->front().state() != cri::SANDBOX_READY)
      return done(tl::make_unexpected(
          stream_error("the pod has no sandbox that runs", grpc_code::not_found)));
    cri::PortForwardRequest ask;
    ask.set_pod_sandbox_id(found->front().id());
    ask.add_port(port);
    client_->runtime<cri::Url>("PortForward", ask,
                               opener<port_stream>(loop_, "portforward.k8s.io", port_openings(port),
                                                   done, &make_port_stream));
  });
}

}  // namespace troupe::actors
