#include "actors/link/log_teller.hpp"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

log_teller::log_teller(told_log what, std::shared_ptr<runtime::worker_pool> disk,
                       runtime::actor_ref to)
    : what_{std::move(what)},
      disk_{std::move(disk)},
      to_{std::move(to)},
      reader_{std::make_shared<log_reader>(what_.file, what_.query)},
      credit_{what_.credit},
      finish_{!what_.follow} {}

const runtime::behavior& log_teller::make_behavior() const {
  static const auto table = runtime::handlers(&log_teller::on_more_log, &log_teller::on_finish_log,
                                              &log_teller::on_part_read);
  return table;
}

void log_teller::started() {
  read();
}

std::string log_teller::describe() const {
  return fmt::format("file: {}\nfollow: {}\ncredit: {}\n", what_.file, what_.follow, credit_);
}

void log_teller::on_more_log(const more_log& m) {
  credit_ += m.credit;
  read();
}

void log_teller::on_finish_log(const finish_log&) {
  finish_ = true;
  read();
}

// Whether the container has ended is known before: what it wrote until then is in the part.
void log_teller::read() {
  if (credit_ == 0 || reading_) return;
  reading_ = disk_->post(
      [reader = reader_, file = what_.file, first = !begun_, last = finish_, to = self()] {
        std::error_code problem;
        const bool missing = first && !std::filesystem::exists(file, problem);
        to.tell(part_read{missing ? std::string{} : reader->next(), missing, last});
      });
  if (!reading_) again_ = after(kubelet_defaults::log_follow_period, [this] { read(); });
}

void log_teller::on_part_read(const part_read& m) {
  reading_ = false;
  if (m.missing) return end("there is no such log");
  const bool first = !std::exchange(begun_, true);
  if (m.text.empty()) {
    if (m.last) return end({});
    // The reader learns that there is a log, though nothing stands in it yet.
    if (first) tell(to_, log_part{.id = what_.ask, .text = {}});
    again_ = after(kubelet_defaults::log_follow_period, [this] { read(); });
    return;
  }
  --credit_;
  tell(to_, log_part{.id = what_.ask, .text = m.text});
  if (reader_->exhausted()) return end({});
  read();
}

void log_teller::end(std::string problem) {
  tell(to_, log_part{.id = what_.ask, .text = {}, .ended = true, .problem = std::move(problem)});
  stop();
}

}  // namespace troupe::actors
