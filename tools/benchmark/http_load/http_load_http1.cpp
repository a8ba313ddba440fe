#include <array>

#include "benchmark/http_load/http1_answer.hpp"
#include "benchmark/http_load/http_load_connection.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t read_bytes = 64 << 10;

class http1_load final : public load_connection {
 public:
  explicit http1_load(load_thread& thread) : thread_{thread}, socket_{thread} {
    fields_ = "Host: " + thread.options.host + "\r\nAccept: application/json\r\n";
    if (!thread.options.bearer_token.empty())
      fields_ += "Authorization: Bearer " + thread.options.bearer_token + "\r\n";
  }

  int descriptor() const override { return socket_.descriptor(); }
  std::size_t waiting() const override { return waiting_ ? 1 : 0; }

  void start() override {
    std::uint64_t number = 0;
    waiting_ = thread_.take(number);
    if (!waiting_) return;
    const auto request = thread_.options.next(number);
    std::string text = request.method + " " + request.path + " HTTP/1.1\r\n" + fields_;
    if (!request.content_type.empty()) text += "Content-Type: " + request.content_type + "\r\n";
    if (!request.body.empty())
      text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    asked_ = load_clock::now();
    socket_.write(text + "\r\n" + request.body);
    socket_.flush();
  }

  void on_event() override {
    static thread_local std::array<char, read_bytes> buffer;
    socket_.flush();
    while (const auto got = socket_.read(buffer.data(), buffer.size()))
      take({buffer.data(), got});
  }

 private:
  void take(std::string_view bytes) {
    if (!answer_.read(bytes)) return;
    thread_.answered(answer_.status(), answer_.size(), asked_);
    start();
  }

  load_thread& thread_;
  load_socket socket_;
  std::string fields_;
  bool waiting_ = false;
  load_clock::time_point asked_;
  http1_answer answer_;
};

}  // namespace

std::unique_ptr<load_connection> make_http1_load(load_thread& thread) {
  return std::make_unique<http1_load>(thread);
}

}  // namespace troupe::bench
