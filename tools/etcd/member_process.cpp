#include "tools/etcd/member_process.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdio>

#include "server/credentials/kubeconfig.hpp"
#include "server/credentials/x509.hpp"
#include "tools/etcd/etcd_process.hpp"
#include "tools/etcd/join_server.hpp"
#include "tools/etcd/member_join.hpp"
#include "tools/etcd/member_keys.hpp"
#include "tools/etcd/membership.hpp"
#include "tools/node/node_folder.hpp"
#include "tools/node/process_setup.hpp"

namespace troupe::tools {

namespace fs = std::filesystem;

namespace {

using clock = std::chrono::steady_clock;
using result = tl::expected<void, std::string>;

class member_process {
 public:
  member_process(const member_options& options, member_settings settings, member_keys keys,
                 std::unique_ptr<join_server> joins, stop_signals& signals)
      : data_dir_{options.data_dir},
        tuning_{options.tuning},
        settings_{std::move(settings)},
        keys_{std::move(keys)},
        joins_{std::move(joins)},
        signals_{signals} {}

  result run();

 private:
  enum class turn : std::uint8_t { stopped, died };

  turn watch(etcd_process& child);
  void look();
  void begin_to_serve();
  bool seek_vote(persistence::etcd_members& members, std::uint64_t id);
  void greet(const std::string& version);
  void refresh();
  void renew_keys();
  bool was_taken_out();
  persistence::expected<std::unique_ptr<persistence::etcd_members>> client() const {
    return open_etcd_members(etcd_client(data_dir_, settings_.endpoints));
  }

  const fs::path data_dir_;
  const member_tuning tuning_;
  member_settings settings_;
  member_keys keys_;
  std::unique_ptr<join_server> joins_;
  stop_signals& signals_;

  bool is_greeted_ = false;  // once per process
  bool serves_ = false;      // the current child
  bool is_learner_ = false;
  int failed_starts_ = 0;
  clock::time_point started_, next_look_, next_refresh_, next_renewal_;
};

result member_process::run() {
  auto pause = etcd_defaults::first_pause;
  for (;;) {
    auto child = etcd_process::start(etcd_arguments(data_dir_, settings_, tuning_));
    if (!child) return tl::make_unexpected(child.error());
    serves_ = false;
    started_ = clock::now();
    next_look_ = next_refresh_ = started_;
    if (watch(**child) == turn::stopped) {
      (*child)->end(etcd_defaults::end_limit);
      return {};
    }
    const auto reason = (*child)->ended().value_or("");
    if (was_taken_out()) {
      fmt::print("the other members have removed this one: it ends\n");
      return {};
    }
    failed_starts_ = serves_ ? 0 : failed_starts_ + 1;
    if (failed_starts_ >= etcd_defaults::failed_starts)
      return tl::make_unexpected(
          fmt::format("etcd has ended {} times in a row before it served, the last time {}: see "
                      "its own messages above",
                      failed_starts_, reason));
    if (clock::now() - started_ >= etcd_defaults::good_run) pause = etcd_defaults::first_pause;
    spdlog::warn("etcd: it has ended {}, and restarts in {} ms", reason, pause.count());
    if (signals_.wait_until(clock::now() + pause)) return {};
    pause = std::min(pause * 2, etcd_defaults::longest_pause);
  }
}

member_process::turn member_process::watch(etcd_process& child) {
  for (;;) {
    if (signals_.wait_until(clock::now() + etcd_defaults::check_period)) return turn::stopped;
    if (child.ended()) return turn::died;
    if (clock::now() >= next_look_) look();
  }
}

// Makes at most two blocking calls, so that a signal is handled within seconds.
void member_process::look() {
  const auto now = clock::now();
  renew_keys();
  if (!serves_ || is_learner_) {
    next_look_ = now + etcd_defaults::ask_period;
    const auto members = client();
    if (!members) return spdlog::error("etcd: {}", members.error().message);
    const auto status = (*members)->status(client_url(settings_));
    if (!status || status->leader == 0) return;
    if (begin_to_serve(); !serves_) return;
    is_learner_ = status->is_learner && !seek_vote(**members, status->member);
    if (!is_learner_) greet(status->version);
    return;
  }
  next_look_ = now + etcd_defaults::refresh_period;
  refresh();
}

// Only a member that has noted that it has served notices later that its data are lost.
void member_process::begin_to_serve() {
  if (!settings_.has_served) {
    auto next = settings_;
    next.has_served = true;
    if (auto saved = save_member_settings(data_dir_, next); !saved)
      return spdlog::error("etcd: {}", saved.error());
    settings_ = std::move(next);
  }
  serves_ = true;
}

// True if the member has a vote.
bool member_process::seek_vote(persistence::etcd_members& members, std::uint64_t id) {
  if (!is_learner_) spdlog::info("etcd: a learner without a vote, until it has the leader's data");
  if (auto done = members.promote(id); !done) {
    spdlog::debug("etcd: no vote yet: {}", done.error().message);
    return false;
  }
  if (const auto seen = read_members(members); seen)
    spdlog::info("etcd: it has a vote now; {}", tolerance_text(voters_of(*seen)));
  return true;
}

void member_process::greet(const std::string& version) {
  refresh();
  if (std::exchange(is_greeted_, true)) return;
  fmt::print("ready {} etcd {}\n", client_url(settings_), version);
  fmt::print("control planes: troupe node {}\n", node_flags(data_dir_, settings_));
  fmt::print("next machine:   troupe etcd token --data-dir {}\n",
             fs::absolute(data_dir_).lexically_normal().string());
  std::fflush(stdout);
  ::sd_notify(0, "READY=1\nSTATUS=serving");
}

void member_process::refresh() {
  const auto members = client();
  if (!members) return;
  const auto found = (*members)->list();
  if (!found) return;
  auto urls = client_urls(*found);
  if (urls.empty() || urls == settings_.endpoints) return;
  settings_.endpoints = std::move(urls);
  if (auto saved = save_member_settings(data_dir_, settings_); !saved)
    spdlog::error("etcd: {}", saved.error());
}

void member_process::renew_keys() {
  const auto now = clock::now();
  if (now < next_renewal_) return;
  next_renewal_ = now + etcd_defaults::certificate_check;
  const auto renewed = keys_.renew();
  if (!renewed) return spdlog::error("etcd: {}", renewed.error());
  if (!*renewed) return;
  if (auto replaced = joins_->replace(keys_); !replaced)
    spdlog::error("etcd: {}", replaced.error());
}

// Only the other members can know; if none answers, returns false.
bool member_process::was_taken_out() {
  auto others = settings_.endpoints;
  std::erase(others, client_url(settings_));
  if (others.empty() || !settings_.has_served) return false;
  const auto members = open_etcd_members(etcd_client(data_dir_, others));
  if (!members) return false;
  const auto found = (*members)->list();
  return found && std::none_of(found->begin(), found->end(), [&](const auto& each) {
           return std::find(each.peer_urls.begin(), each.peer_urls.end(), peer_url(settings_)) !=
                  each.peer_urls.end();
         });
}

// -- the start ------------------------------------------------------------------------------------

// etcd makes the folder "member". A file system that is not mounted, or a new one, has none; a
// folder that cannot be read is an error, not an empty one.
tl::expected<bool, std::string> has_data(const fs::path& data_dir) {
  const auto folder = member_data(data_dir) / "member";
  std::error_code failed;
  const bool found = fs::exists(folder, failed);
  if (failed) return tl::make_unexpected(fmt::format("{}: {}", folder.string(), failed.message()));
  return found;
}

// The given settings must equal the stored ones: the other members identify this one by them.
result check_same(const member_options& options, const member_settings& kept) {
  const auto& given = options.settings;
  const auto differs = [](const server::endpoint& a, const server::endpoint& b) {
    return !a.host.empty() && !(a == b);
  };
  if (differs(given.client, kept.client) || differs(given.peer, kept.peer) ||
      (!given.host.empty() && given.host != kept.host))
    return tl::make_unexpected(fmt::format(
        "data dir {}: the other members know this one at {} and {}; for another address remove it "
        "and let it join again",
        options.data_dir.string(), server::to_string(kept.client), server::to_string(kept.peer)));
  return {};
}

// A disk that is not mounted looks like this, too. Without what it has acknowledged the member must
// not vote.
std::string lost_data(const fs::path& data_dir, const member_settings& kept) {
  return fmt::format(
      "member {} has served, and {} has no data: mount its disk. Do not restore an older copy: the "
      "member could break acknowledged writes. If the data are lost, run 'troupe etcd --data-dir "
      "{} "
      "--rejoin' while a majority of the other members is healthy",
      kept.name, member_data(data_dir).string(), data_dir.string());
}

// A machine that joins may have the keys of its members, from an attempt that was interrupted. Keys
// of others are not used: everything that their authority has signed would have access to etcd.
result check_keys(const member_options& options) {
  const auto file = member_pki(options.data_dir) / "ca.crt";
  std::error_code failed;
  if (!fs::exists(file, failed) && !failed) return {};
  const auto text = server::read_file(file.string());
  if (!text) return tl::make_unexpected(text.error());
  const auto hash = server::x509::key_hash(*text);
  if (hash && *hash == options.line.authority_hash) return {};
  return tl::make_unexpected(fmt::format(
      "data dir {}: {} is the authority of another program, or of an earlier etcd; name "
      "another with --data-dir, or move pki away",
      options.data_dir.string(), file.string()));
}

tl::expected<member_settings, std::string> settle(const member_options& options) {
  const auto& data_dir = options.data_dir;
  auto kept = load_member_settings(data_dir);
  if (!kept) return tl::make_unexpected(kept.error());
  const auto data = has_data(data_dir);
  if (!data) return tl::make_unexpected(data.error());
  if (*kept) {
    if (auto same = check_same(options, **kept); !same) return tl::make_unexpected(same.error());
    if (!(*kept)->has_served) return **kept;
    if (*data && options.rejoin)
      return tl::make_unexpected(
          fmt::format("member {} has its data in {}: start it without "
                      "--rejoin",
                      (*kept)->name, member_data(data_dir).string()));
    if (*data) return **kept;
    if (!options.rejoin) return tl::make_unexpected(lost_data(data_dir, **kept));
    return join_again(data_dir, **kept);
  }
  if (options.rejoin)
    return tl::make_unexpected(fmt::format(
        "data dir {}: there is no member.json, so it is not known which member this is: "
        "mount its disk; if all is lost, run the join command again with the same "
        "--name ('troupe etcd token' on another member prints it)",
        data_dir.string()));
  std::error_code failed;
  if (fs::exists(data_dir / "store", failed) || fs::exists(data_dir / "join", failed) ||
      fs::exists(data_dir / "admin.kubeconfig", failed) ||
      fs::exists(data_dir / "control-plane.json", failed))
    return tl::make_unexpected(fmt::format(
        "data dir {}: belongs to a node; name another with --data-dir", data_dir.string()));
  if (*data)
    return tl::make_unexpected(
        fmt::format("{} has data of an etcd that is not known here: move it away",
                    member_data(data_dir).string()));
  if (auto good = check_keys(options); !good) return tl::make_unexpected(good.error());
  if (!options.line.address.empty()) return join_members(options);
  auto settings = complete_settings(options);
  if (!settings) return settings;
  if (auto saved = save_member_settings(data_dir, *settings); !saved)
    return tl::make_unexpected(saved.error());
  return settings;
}

}  // namespace

result run_member(const member_options& options) {
  if (auto missing = missing_program(options.tuning.binary); !missing.empty())
    return tl::make_unexpected(std::move(missing));
  process_setup setup{config::log_config{}, etcd_defaults::process_end};
  const auto folder = node_folder::lock_data_dir(options.data_dir);
  if (!folder) return tl::make_unexpected(folder.error());
  auto settings = settle(options);
  if (!settings) return tl::make_unexpected(settings.error());
  auto keys = member_keys::open(options.data_dir, settings->host);
  if (!keys) return tl::make_unexpected(keys.error());
  auto joins = join_server::listen(options.data_dir, settings->join, *keys);
  if (!joins) return tl::make_unexpected(joins.error());
  return member_process{options, std::move(*settings), std::move(*keys), std::move(*joins),
                        setup.signals}
      .run();
}

}  // namespace troupe::tools
