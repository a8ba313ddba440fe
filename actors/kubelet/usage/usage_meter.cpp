#include "actors/kubelet/usage/usage_meter.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

const runtime::behavior& usage_meter::make_behavior() const {
  static const auto table =
      runtime::handlers(&usage_meter::on_measure_usage, &usage_meter::on_reading_taken);
  return table;
}

std::string usage_meter::describe() const {
  return fmt::format("readings: {}\nwaiting: {}\ncontainers: {}\n", readings_, waiting_.size(),
                     last_ ? last_->reading.containers.size() : 0);
}

void usage_meter::on_measure_usage(const measure_usage&, runtime::promise<node_usage> to) {
  if (figures_ && now() - last_->at < kubelet_defaults::usage_fresh) return answer(to);
  if (waiting_.size() >= kubelet_defaults::usage_askers)
    return to.deliver({.problem = "too many pending requests for usage"});
  waiting_.push_back(std::move(to));
  if (waiting_.size() > 1) return;
  figures_.reset();
  if (last_ && now() - last_->at > kubelet_defaults::usage_longest_window) last_.reset();
  take_reading();
}

void usage_meter::take_reading() {
  reading_ = true;
  read_([to = self(), number = ++readings_](usage_reading reading) {
    to.tell(reading_taken{number, std::move(reading)});
  });
  late_ = after(kubelet_defaults::usage_check_limit, [this] {
    ++readings_;  // a late reading is ignored
    answer_all();
  });
}

void usage_meter::on_reading_taken(const reading_taken& m) {
  if (!reading_ || m.number != readings_) return;
  reading_ = false;
  late_.cancel();
  if (last_) figures_ = usage_between(last_->reading, m.reading);
  last_ = {m.reading, now()};
  if (figures_) return answer_all();
  next_ = after(kubelet_defaults::usage_first_window, [this] { take_reading(); });
}

void usage_meter::answer(runtime::promise<node_usage>& to) const {
  if (!figures_) return to.deliver({.problem = "the machine could not be measured in time"});
  auto result = *figures_;
  result.age = std::chrono::duration_cast<std::chrono::milliseconds>(now() - last_->at);
  to.deliver(std::move(result));
}

void usage_meter::answer_all() {
  reading_ = false;
  for (auto& each : std::exchange(waiting_, {}))
    answer(each);
}

}  // namespace troupe::actors
