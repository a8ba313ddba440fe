#include "actors/link/log_streamer.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/defaults.hpp"

namespace troupe::actors {

log_streamer::log_streamer(log_request request, const std::shared_ptr<log_source>& source,
                           runtime::actor_ref receiver)
    : request_{std::move(request)},
      receiver_{std::move(receiver)},
      stream_{source->open_log(request_.from, request_.query)},
      credit_{request_.credit},
      finish_{!request_.follow} {}

const runtime::behavior& log_streamer::make_behavior() const {
  static const auto table = runtime::handlers(
      &log_streamer::on_more_log, &log_streamer::on_finish_log, &log_streamer::on_part_read);
  return table;
}

void log_streamer::started() {
  read();
}

std::string log_streamer::describe() const {
  return fmt::format("container: {}\nfollow: {}\ncredit: {}\n", request_.from.id, request_.follow,
                     credit_);
}

void log_streamer::on_more_log(const more_log& m) {
  credit_ += m.credit;
  read();
}

void log_streamer::on_finish_log(const finish_log&) {
  finish_ = true;
  read();
}

// `finish_` is read before the log: the part then contains all output until the end.
void log_streamer::read() {
  if (credit_ == 0 || reading_) return;
  reading_ = true;
  stream_->read([last = finish_, to = self()](log_text part) {
    to.tell(part_read{std::move(part), last});
  });
}

void log_streamer::on_part_read(const part_read& m) {
  reading_ = false;
  if (!m.part.problem.empty()) return end(m.part.problem);
  if (m.part.missing) return end("there is no such log");
  const bool first = !std::exchange(begun_, true);
  if (m.part.text.empty()) {
    if (m.last) return end({});
    // An empty part tells the reader that the log exists.
    if (first) tell(receiver_, log_part{.id = request_.id, .text = {}});
    again_ = after(defaults::log_follow_period, [this] { read(); });
    return;
  }
  --credit_;
  tell(receiver_, log_part{.id = request_.id, .text = m.part.text});
  if (m.part.exhausted) return end({});
  read();
}

void log_streamer::end(std::string problem) {
  tell(receiver_,
       log_part{.id = request_.id, .text = {}, .ended = true, .problem = std::move(problem)});
  stop();
}

}  // namespace troupe::actors
