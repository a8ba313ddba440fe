#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/api_servers/api_server_record.hpp"
#include "actors/defaults.hpp"
#include "api/scheme.hpp"
#include "api/storage/stored_versions.hpp"
#include "persistence/etcd/etcd.hpp"
#include "persistence/move/directory_state.hpp"
#include "persistence/move/file_state.hpp"
#include "persistence/move/live_servers.hpp"
#include "persistence/move/log_state.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "server/credentials/private_file.hpp"
#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"
#include "tools/defaults.hpp"
#include "tools/node/logging.hpp"
#include "tools/node/node_folder.hpp"

namespace troupe::tools {

namespace {

namespace fs = std::filesystem;
using namespace persistence;

constexpr std::string_view place_about =
    "`etcd`, with --etcd-endpoints, or the data directory of a node that is stopped.";

constexpr std::string_view release_prefix = "1.";

std::string release_of(int minor) {
  return fmt::format("{}{}", release_prefix, minor);
}

int minor_of(const std::string& release) {
  if (release.empty()) return api::last_storage_minor;
  return std::stoi(release.substr(release_prefix.size()));
}

// Flags shared by the three commands.
struct copy_flags {
  std::string from, to, file, authority;
  etcd_options etcd;
  std::string storage_target;  // empty: the newest
};

// Sends the store's log to stderr, apart from the result.
struct quiet_log {
  quiet_log() {
    config::log_config wanted;
    wanted.level = config::log_level::warning;
    start_logging(wanted);
  }
  ~quiet_log() { stop_logging(); }
};

// -- places ---------------------------------------------------------------------------------------

// etcd, opened on first use.
struct etcd_place {
  std::unique_ptr<shared_log> log;
  std::unique_ptr<blocking_log> asked;
};

bool is_etcd(const std::string& place) {
  return place == "etcd";
}

expected<etcd_place> open_log(const copy_flags& flags) {
  if (flags.etcd.endpoints.empty()) return fail(errc::invalid, "etcd needs --etcd-endpoints");
  auto log = open_etcd(flags.etcd);
  if (!log) return fail(std::move(log.error()));
  auto name = fmt::format("etcd at {}", fmt::join(flags.etcd.endpoints, ", "));
  auto asked = std::make_unique<blocking_log>(**log, std::move(name), defaults::store_wait);
  return etcd_place{std::move(*log), std::move(asked)};
}

std::string store_of(const std::string& place) {
  return (fs::path{place} / "store").string();
}

// -- the authority --------------------------------------------------------------------------------

// The folder of the authority; empty if there is none.
std::string authority_of(const copy_flags& flags, const std::string& place) {
  if (!flags.authority.empty()) return flags.authority;
  return is_etcd(place) ? std::string{} : (fs::path{place} / "pki").string();
}

expected<state_files> read_authority(const std::string& directory) {
  state_files files;
  std::error_code failed;
  if (directory.empty() || !fs::is_directory(directory, failed)) return files;
  for (const auto& each : fs::directory_iterator{directory, failed}) {
    if (!each.is_regular_file(failed)) continue;
    auto content = server::read_file(each.path().string());
    if (!content) return fail(errc::io, content.error());
    if (content->size() > defaults::authority_file_bytes ||
        files.size() == defaults::authority_files)
      return fail(errc::invalid,
                  fmt::format("{} holds more than the files of an authority", directory));
    files.emplace(each.path().filename().string(), std::move(*content));
  }
  return files;
}

// Existing files may come from an interrupted restore of the same backup.
expected<void> check_authority(const std::string& directory, const state_files& files) {
  if (directory.empty() || files.empty()) return {};
  for (const auto& [name, content] : files)  // a name in a backup must not be a path
    if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos)
      return fail(errc::invalid, fmt::format("the backup holds a file named {}", name));
  const auto present = read_authority(directory);
  if (!present) return fail(present.error());
  for (const auto& [name, content] : *present)
    if (const auto same = files.find(name); same == files.end() || same->second != content)
      return fail(
          errc::invalid,
          fmt::format("{}/{} differs from the backup: an existing authority is not overwritten",
                      directory, name));
  return {};
}

expected<void> write_authority(const std::string& directory, const state_files& files) {
  if (directory.empty() || files.empty()) return {};
  std::error_code failed;
  fs::create_directories(directory, failed);
  fs::permissions(directory, fs::perms::owner_all, failed);
  for (const auto& [name, content] : files)
    if (auto written = server::write_private_file(fs::path{directory} / name, content); !written)
      return fail(errc::io, written.error());
  return {};
}

// -- copies ---------------------------------------------------------------------------------------

std::string text_of(const copy_report& report) {
  return fmt::format("{} objects, {} MB", report.objects, report.bytes >> 20);
}

expected<copy_report> copy(state_source& from, state_target& to) {
  const bool is_watched = ::isatty(STDERR_FILENO) == 1;
  auto shown = std::chrono::steady_clock::now();
  auto done = copy_state(from, to, [&](const copy_report& report) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_watched || now - shown < std::chrono::seconds{1}) return;
    shown = now;
    std::cerr << "\r" << text_of(report) << std::flush;
  });
  if (is_watched) std::cerr << "\r\x1b[K";
  return done;
}

// Makes the target's data directory, and keeps nodes and other copies out of it.
expected<std::optional<node_folder>> lock_target(const copy_flags& flags) {
  if (is_etcd(flags.to)) return std::nullopt;
  auto lock = node_folder::lock_data_dir(flags.to, "--to");
  if (!lock) return fail(errc::invalid, std::move(lock.error()));
  return std::move(*lock);
}

expected<copy_report> copy_to(const copy_flags& flags, state_source& from) {
  if (is_etcd(flags.to)) {
    auto place = open_log(flags);
    if (!place) return fail(std::move(place.error()));
    log_target to{*place->asked,
                  {minor_of(flags.storage_target)},
                  events_with_leases(actors::defaults::event_time_to_live)};
    return copy(from, to);
  }
  if (!flags.storage_target.empty())
    return fail(errc::invalid, "--storage-target applies to etcd only, not to a directory");
  auto to = directory_target::open(store_of(flags.to));
  if (!to) return fail(std::move(to.error()));
  return copy(from, **to);
}

using source_check = std::function<expected<void>(blocking_log&)>;

// What is written after the copy would be lost.
expected<void> check_is_unserved(blocking_log& log) {
  using api::coordination::v1::Lease;
  const auto records =
      api::kind_of<Lease>().key(actors::api_server_namespace, actors::api_server_lease({}));
  const auto server = find_live_server(log, records, defaults::name_wait);
  if (!server) return fail(server.error());
  if (!*server) return {};
  return fail(errc::invalid,
              fmt::format("the control plane {} serves {}: stop all control planes before the "
                          "copy, which would not have what they write later; `troupe store "
                          "backup` saves the state while they run",
                          **server, log.name()));
}

expected<void> allow_any(blocking_log&) {
  return {};
}

// `check` gets the source if it is etcd.
expected<copy_report> copy_from(const copy_flags& flags, const source_check& check,
                                const std::function<expected<copy_report>(state_source&)>& rest) {
  if (is_etcd(flags.from)) {
    auto place = open_log(flags);
    if (!place) return fail(std::move(place.error()));
    if (auto good = check(*place->asked); !good) return fail(std::move(good.error()));
    auto from = log_source::open(*place->asked);
    if (!from) return fail(std::move(from.error()));
    return rest(**from);
  }
  auto from = directory_source::open(store_of(flags.from));
  if (!from) return fail(std::move(from.error()));
  return rest(**from);
}

int told(const expected<copy_report>& done, const std::string& to) {
  if (!done) return fail_with(done.error().message);
  std::cout << to << ": " << text_of(*done) << ", of cluster " << done->head.cluster
            << " at revision " << done->head.at << "\n";
  return exit_code::done;
}

int run_copy(const copy_flags& flags) {
  if (is_etcd(flags.from) == is_etcd(flags.to))
    return fail_with("one of --from and --to is etcd, the other a data directory",
                     exit_code::usage);
  const auto copy_on = [&](state_source& from) -> expected<copy_report> {
    const auto lock = lock_target(flags);
    if (!lock) return fail(lock.error());
    return copy_to(flags, from);
  };
  return told(copy_from(flags, check_is_unserved, copy_on), flags.to);
}

int run_backup(const copy_flags& flags) {
  const auto backup = [&](state_source& from) -> expected<copy_report> {
    auto files = read_authority(authority_of(flags, flags.from));
    if (!files) return fail(std::move(files.error()));
    auto to = file_target::open(flags.file, std::move(*files));
    if (!to) return fail(std::move(to.error()));
    return copy(from, **to);
  };
  return told(copy_from(flags, allow_any, backup), flags.file);
}

int run_restore(const copy_flags& flags) {
  const auto restore = [&]() -> expected<copy_report> {
    auto from = file_source::open(flags.file);
    if (!from) return fail(std::move(from.error()));
    const auto lock = lock_target(flags);
    if (!lock) return fail(lock.error());
    const auto& files = (*from)->files();
    const auto authority = authority_of(flags, flags.to);
    if (auto good = check_authority(authority, files); !good) return fail(std::move(good.error()));
    // Before the store: a node that finds a store without its authority would create another one.
    if (auto kept = write_authority(authority, files); !kept) return fail(std::move(kept.error()));
    restored_source restored{**from};
    return copy_to(flags, restored);
  };
  return told(restore(), flags.to);
}

// -- the command line -----------------------------------------------------------------------------

void add_etcd_flags(CLI::App& to, copy_flags& flags) {
  to.add_option("--etcd-endpoints", flags.etcd.endpoints, "Its members, as https://10.0.0.1:2379.")
      ->delimiter(',')
      ->type_name("URL,...");
  to.add_option("--etcd-ca", flags.etcd.ca_file, "The authorities that sign etcd's certificates.")
      ->type_name("FILE");
  to.add_option("--etcd-cert", flags.etcd.certificate_file, "The client's certificate for etcd.")
      ->type_name("FILE");
  to.add_option("--etcd-key", flags.etcd.key_file, "The key of that certificate.")
      ->type_name("FILE");
}

// As the setting storage.target.
void add_storage_target(CLI::App& to, copy_flags& flags) {
  std::vector<std::string> releases;
  for (int minor = api::first_storage_minor; minor <= api::last_storage_minor; ++minor)
    releases.push_back(release_of(minor));
  to.add_option("--storage-target", flags.storage_target,
                fmt::format("For etcd: the Kubernetes release whose storage versions and encoding "
                            "are used, {} to {}. Default: {}.",
                            releases.front(), releases.back(), releases.back()))
      ->check(CLI::IsMember(releases))
      ->type_name("RELEASE");
}

void add_one(program& to, CLI::App& parent, const std::string& name, const std::string& about,
             int (*run)(const copy_flags&), bool has_from, bool has_to) {
  const auto flags = std::make_shared<copy_flags>();
  auto& command = to.add(parent, name, about, [flags, run] {
    const quiet_log log;
    return run(*flags);
  });
  const std::string place{place_about};
  if (has_from)
    command.add_option("--from", flags->from, "The source: " + place)->type_name("DIR")->required();
  if (has_to)
    command.add_option("--to", flags->to, "The destination: " + place)
        ->type_name("DIR")
        ->required();
  if (!has_from || !has_to) {
    command.add_option("file", flags->file, "The backup.")->type_name("FILE")->required();
    command
        .add_option(
            "--pki", flags->authority,
            "The folder of the cluster's authority; without it the pki of the data directory.")
        ->type_name("DIR");
  }
  add_etcd_flags(command, *flags);
  if (has_to) add_storage_target(command, *flags);
}

}  // namespace

void add_copy_commands(program& to, CLI::App& store) {
  add_one(to, store, "copy",
          "Copies a cluster's state from a node's store into an etcd, or back, while nothing "
          "serves it; an interrupted copy continues.",
          &run_copy, true, true);
  add_one(to, store, "backup", "Writes a cluster's state and its authority to a file.", &run_backup,
          true, false);
  add_one(to, store, "restore", "Restores a backup into a new store.", &run_restore, false, true);
}

}  // namespace troupe::tools
