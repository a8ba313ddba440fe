#include "actors/link/log_streamer.hpp"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "actors/defaults.hpp"

namespace troupe::actors {

log_streamer::log_streamer(log_request request, std::shared_ptr<runtime::worker_pool> disk,
                           runtime::actor_ref receiver)
    : request_{std::move(request)},
      disk_{std::move(disk)},
      receiver_{std::move(receiver)},
      reader_{std::make_shared<log_reader>(request_.file, request_.query)},
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
  return fmt::format("file: {}\nfollow: {}\ncredit: {}\n", request_.file, request_.follow, credit_);
}

void log_streamer::on_more_log(const more_log& m) {
  credit_ += m.credit;
  read();
}

void log_streamer::on_finish_log(const finish_log&) {
  finish_ = true;
  read();
}

// Whether the container has ended is known before: what it wrote until then is in the part.
void log_streamer::read() {
  if (credit_ == 0 || reading_) return;
  reading_ = disk_->post(
      [reader = reader_, file = request_.file, first = !begun_, last = finish_, to = self()] {
        std::error_code problem;
        const bool missing = first && !std::filesystem::exists(file, problem);
        to.tell(part_read{missing ? std::string{} : reader->next(), missing, last});
      });
  if (!reading_) again_ = after(defaults::log_follow_period, [this] { read(); });
}

void log_streamer::on_part_read(const part_read& m) {
  reading_ = false;
  if (m.missing) return end("there is no such log");
  const bool first = !std::exchange(begun_, true);
  if (m.text.empty()) {
    if (m.last) return end({});
    // The reader learns that there is a log, though nothing stands in it yet.
    if (first) tell(receiver_, log_part{.id = request_.id, .text = {}});
    again_ = after(defaults::log_follow_period, [this] { read(); });
    return;
  }
  --credit_;
  tell(receiver_, log_part{.id = request_.id, .text = m.text});
  if (reader_->exhausted()) return end({});
  read();
}

void log_streamer::end(std::string problem) {
  tell(receiver_,
       log_part{.id = request_.id, .text = {}, .ended = true, .problem = std::move(problem)});
  stop();
}

}  // namespace troupe::actors
