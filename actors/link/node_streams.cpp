#include "actors/link/node_streams.hpp"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <utility>

#include "actors/link/defaults.hpp"

namespace troupe::actors {

namespace {

class linked_exec final : public exec_stream {
 public:
  explicit linked_exec(std::shared_ptr<linked_end> end) : end_{std::move(end)} {}

  void read(std::function<void(exec_part)> done) override { end_->stream()->read(std::move(done)); }
  void write(std::string bytes, std::function<void(bool)> done) override {
    end_->stream()->write(std::move(bytes), std::move(done));
  }
  void close_input() override { end_->stream()->close_input(); }
  void resize(int rows, int columns) override { end_->stream()->resize(rows, columns); }

 private:
  const std::shared_ptr<linked_end> end_;
};

class linked_port final : public port_stream {
 public:
  explicit linked_port(std::shared_ptr<linked_end> end) : end_{std::move(end)} {}

  void read(std::function<void(std::string)> done) override {
    end_->stream()->read([done = std::move(done)](exec_part part) {
      done(part.from == exec_part::kind::ended ? std::string{} : std::move(part.bytes));
    });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    end_->stream()->write(std::move(bytes), std::move(done));
  }
  void close_input() override { end_->stream()->close_input(); }

 private:
  const std::shared_ptr<linked_end> end_;
};

runtime_error no_answer(const std::string& node, runtime::request_error error) {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  const auto text =
      error == runtime::request_error::timeout
          ? fmt::format("node {} did not answer within {} s: its link may be down", node,
                        duration_cast<seconds>(link_defaults::stream_open_wait).count())
          : fmt::format("the link to node {} was lost", node);
  return {runtime_error::kind::refused, text};
}

}  // namespace

template <class Stream, class Handle>
void node_streams::open(stream_target target, runtime_answer<std::unique_ptr<Stream>> done) {
  system_.request<stream_opened>(
      links_, open_stream{node_, std::move(target)}, link_defaults::stream_open_wait,
      [node = node_, done = std::move(done)](auto reply) {
        if (!reply) return done(tl::make_unexpected(no_answer(node, reply.error())));
        const auto& result = (*reply)->result;
        if (!result) return done(tl::make_unexpected(result.error()));
        done(std::unique_ptr<Stream>{std::make_unique<Handle>(*result)});
      });
}

void node_streams::open_exec(const std::string& id, exec_request request,
                             runtime_answer<std::unique_ptr<exec_stream>> done) {
  open<exec_stream, linked_exec>(
      {.to = stream_target::kind::exec, .container = id, .exec = std::move(request)},
      std::move(done));
}

void node_streams::attach(const std::string& id, exec_request request,
                          runtime_answer<std::unique_ptr<exec_stream>> done) {
  open<exec_stream, linked_exec>(
      {.to = stream_target::kind::attach, .container = id, .exec = std::move(request)},
      std::move(done));
}

void node_streams::forward_port(const std::string& pod_uid, int port,
                                runtime_answer<std::unique_ptr<port_stream>> done) {
  open<port_stream, linked_port>(
      {.to = stream_target::kind::port, .pod_uid = pod_uid, .port = port}, std::move(done));
}

}  // namespace troupe::actors
