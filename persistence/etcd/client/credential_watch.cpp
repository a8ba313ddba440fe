#include "persistence/etcd/client/credential_watch.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace troupe::persistence::etcd {

namespace {

constexpr std::chrono::hours warning_period{1}, end_warning_period{24};

std::string names_of(const etcd_options& options) {
  std::string all;
  for (const auto* each : {&options.ca_file, &options.certificate_file, &options.key_file})
    if (!each->empty()) all += (all.empty() ? "" : ", ") + *each;
  return all;
}

}  // namespace

credential_watch::credential_watch(const etcd_options& options, credentials used, use_function use)
    : options_{options},
      files_{names_of(options)},
      use_{std::move(use)},
      used_{std::move(used)},
      thread_{[this](const std::stop_token& stop) { run(stop); }} {
  ::pthread_setname_np(thread_.native_handle(), "etcd-files");
}

void credential_watch::run(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  for (;;) {
    warn_of_end();
    over_.wait_for(lock, stop, options_.reload_period, [] { return false; });
    if (stop.stop_requested()) return;
    look(stop);
  }
}

void credential_watch::look(const std::stop_token& stop) {
  auto found = read_files(options_);
  if (found && *found == used_) return refused_.reset();
  const auto good = try_out(found, stop);
  if (stop.stop_requested()) return;
  if (!good) return warn(std::move(found).value_or(credentials{}), good.error());
  used_ = std::move(*found);
  refused_.reset();
  spdlog::info("etcd: {} have changed, and are used for all new connections from now on", files_);
}

expected<void> credential_watch::try_out(const expected<credentials>& found,
                                         const std::stop_token& stop) const {
  if (!found) return fail(found.error());
  if (auto good = check(*found, options_); !good) return good;
  return use_(*found, stop);
}

void credential_watch::warn(credentials refused, const error& reason) {
  if (refused_ == refused && clock::now() < next_warning_) return;
  refused_ = std::move(refused);
  next_warning_ = clock::now() + warning_period;
  spdlog::warn("etcd: {} have changed but cannot be used, so the old ones still are: {}", files_,
               reason.message);
}

void credential_watch::warn_of_end() {
  if (clock::now() < next_end_warning_) return;
  const auto text = warning_of_end(used_.certificate, options_.certificate_file,
                                   std::chrono::system_clock::now());
  if (text.empty()) return;
  next_end_warning_ = clock::now() + end_warning_period;
  spdlog::warn("etcd: {}", text);
}

}  // namespace troupe::persistence::etcd
