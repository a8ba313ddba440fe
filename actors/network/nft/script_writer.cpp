#include "actors/network/nft/script_writer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "actors/network/defaults.hpp"

namespace troupe::actors::nft {

script_writer::script_writer(script_writer_options options) : options_{std::move(options)} {}

void script_writer::write() {
  if (running_ || retry_.pending()) return;
  auto text = options_.text(whole_ ? extent::whole : extent::difference);
  if (text.empty()) return options_.up_to_date();
  whole_ = false;
  give(std::move(text));
}

void script_writer::write_at_once() {
  retry_.cancel();
  write();
}

void script_writer::restore() {
  whole_ = true;
  // A retry or an earlier restore is pending and will write the whole table.
  if (retry_.pending()) return;
  spdlog::warn("network: another program removed some of {}: they are restored", options_.subject);
  retry_ = options_.after(network_defaults::nft_restore, [this] { write(); });
}

void script_writer::give(std::string text) {
  if (given_++ == 0) probe_later();
  running_ = std::make_shared<const given_script>();
  limit_ = options_.after(network_defaults::nft_answer_limit, [this] {
    fail(fmt::format("nft has not ended after {}",
                     std::chrono::floor<std::chrono::seconds>(network_defaults::nft_answer_limit)));
  });
  options_.give(std::move(text), running_);
}

void script_writer::on_done(const script_done& m) {
  if (m.script != running_) return;
  if (!m.problem.empty()) return fail(m.problem);
  running_.reset();
  limit_.cancel();
  if (!problem_.empty()) spdlog::info("network: {} are up to date again", options_.subject);
  problem_.clear();
  pause_ = runtime::duration{0};
  options_.ended({});
  write();
}

void script_writer::fail(const std::string& problem) {
  running_.reset();
  limit_.cancel();
  if (std::exchange(problem_, problem) != problem)
    spdlog::error("network: {} are not up to date: {}", options_.subject, problem);
  whole_ = true;
  pause_ = std::clamp<runtime::duration>(2 * pause_, network_defaults::nft_retry,
                                         network_defaults::nft_longest_retry);
  retry_ = options_.after(pause_, [this] { write(); });
  options_.ended(problem);
}

void script_writer::probe_later() {
  probe_ = options_.after(network_defaults::nft_probe, [this] {
    probe_later();
    probe();
  });
}

void script_writer::probe() {
  if (running_ || retry_.pending()) return;
  give(options_.text(extent::probe));
}

}  // namespace troupe::actors::nft
