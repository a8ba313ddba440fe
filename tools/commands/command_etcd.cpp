#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <memory>

#include "server/credentials/addresses.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/wait_flags.hpp"
#include "tools/commands/commands.hpp"
#include "tools/etcd/join_tokens.hpp"
#include "tools/etcd/member_keys.hpp"
#include "tools/etcd/member_process.hpp"
#include "tools/etcd/member_removal.hpp"
#include "tools/etcd/membership.hpp"
#include "tools/join/server_trust.hpp"
#include "tools/node/logging.hpp"

namespace troupe::tools {

namespace {

struct etcd_flags {
  std::string data_dir{etcd_defaults::data_dir};
  std::string listen_client, listen_peer, listen_join;
  wait::duration heartbeat{etcd_defaults::heartbeat}, election{etcd_defaults::election};
  wait::duration lifetime{etcd_defaults::token_lifetime};
  std::string member;
  member_options options;
};
using flags_ptr = std::shared_ptr<etcd_flags>;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// -- the member -----------------------------------------------------------------------------------

tl::expected<void, std::string> read_addresses(etcd_flags& flags) {
  auto& to = flags.options.settings;
  for (const auto& [text, into, flag] :
       {std::tuple{&flags.listen_client, &to.client, "--listen-client"},
        {&flags.listen_peer, &to.peer, "--listen-peer"},
        {&flags.listen_join, &to.join, "--listen-join"}}) {
    if (text->empty()) continue;
    const auto parsed = parse_host_and_port(*text);
    if (!parsed) return tl::make_unexpected(fmt::format("{}: {}", flag, parsed.error()));
    *into = {parsed->host, static_cast<std::uint16_t>(parsed->port)};
  }
  return {};
}

int run_etcd(etcd_flags& flags) {
  auto& options = flags.options;
  if (auto good = read_addresses(flags); !good) return fail_with(good.error(), exit_code::usage);
  if (flags.election < flags.heartbeat * 5 || flags.election > etcd_defaults::longest_election)
    return fail_with(
        "--election-timeout: expected five times --heartbeat-interval at least, and 50s at "
        "most",
        exit_code::usage);
  options.data_dir = flags.data_dir;
  options.tuning.heartbeat = std::chrono::duration_cast<std::chrono::milliseconds>(flags.heartbeat);
  options.tuning.election = std::chrono::duration_cast<std::chrono::milliseconds>(flags.election);
  if (options.settings.name.empty()) options.settings.name = host_name();
  return exit_code_of(run_member(options));
}

void add_data_dir(CLI::App& to, etcd_flags& flags) {
  to.add_option("--data-dir", flags.data_dir,
                fmt::format("Where the member keeps its data and its keys, apart from a node's. "
                            "Default: {}.",
                            etcd_defaults::data_dir))
      ->type_name("DIR");
}

void add_member_flags(CLI::App& to, etcd_flags& flags) {
  auto& options = flags.options;
  add_data_dir(to, flags);
  to.add_option("--name", options.settings.name, "The member's name. Default: the host's.")
      ->type_name("NAME");
  to.add_option("--listen-client", flags.listen_client,
                "The address for control planes. Default: port 2379, of 127.0.0.1 on the first "
                "machine, of its address in the members' network on the others.")
      ->type_name("HOST:PORT");
  to.add_option("--listen-peer", flags.listen_peer,
                "The address for the other members. Default: port 2380 of the same host.")
      ->type_name("HOST:PORT");
  to.add_option("--listen-join", flags.listen_join,
                "The address for machines that join. Default: port 2382 of the same host.")
      ->type_name("HOST:PORT");
  to.add_option(
        "--host", options.settings.host,
        "The name or address that other machines use. Default: that of the addresses above.")
      ->type_name("HOST");
  to.add_option("--etcd-binary", options.tuning.binary,
                fmt::format("The program. Default: {}, of the package {}.", etcd_defaults::binary,
                            etcd_defaults::package))
      ->type_name("FILE");
  add_duration(to, "--heartbeat-interval", flags.heartbeat,
               "How often the leader sends a heartbeat. The same for all members.",
               std::chrono::milliseconds{1});
  add_duration(to, "--election-timeout", flags.election,
               "The time without a heartbeat after which another leader is elected. The same for "
               "all members.",
               etcd_defaults::shortest_election);
  to.add_option(
        "--quota-backend-bytes", options.tuning.quota_bytes,
        fmt::format("The size of the database beyond which writes are refused. Default: {}.",
                    etcd_defaults::quota_bytes))
      ->type_name("BYTES");
}

void add_join(program& to, CLI::App& etcd) {
  const auto flags = std::make_shared<etcd_flags>();
  auto& command = to.add(etcd, "join", "Makes this machine a member, and runs it.",
                         [flags] { return run_etcd(*flags); });
  auto& line = flags->options.line;
  command
      .add_option("address", line.address, "A member's address, as `troupe etcd token` prints it.")
      ->type_name("HOST:PORT")
      ->required();
  command.add_option("--token", line.token, "The token that `troupe etcd token` printed.")
      ->type_name("ID.SECRET")
      ->required();
  command
      .add_option("--ca-hash", line.authority_hash,
                  "The hash of the members' authority: the token is sent to no other server.")
      ->type_name("sha256:HASH")
      ->required();
  command
      .add_option("--certificate-key", line.certificate_key, "Decrypts the keys of the members.")
      ->type_name("KEY")
      ->required();
  add_member_flags(command, *flags);
}

// -- tokens ---------------------------------------------------------------------------------------

tl::expected<std::string, std::string> make_token_line(const etcd_flags& flags) {
  const auto settings = load_member_settings(flags.data_dir);
  if (!settings) return tl::make_unexpected(settings.error());
  if (!*settings)
    return tl::make_unexpected(
        fmt::format("data dir {}: no member of an etcd runs there; start one with troupe etcd",
                    flags.data_dir));
  if (server::is_loopback((*settings)->host))
    std::cerr << "troupe: this member listens on loopback only, so that no other machine can join: "
                 "start it with --listen-client HOST:2379, an address of its network\n";
  const auto keys = member_keys::open(flags.data_dir, (*settings)->host);
  if (!keys) return tl::make_unexpected(keys.error());
  const auto made = make_join_token(flags.data_dir, {keys->authority(), (*settings)->endpoints},
                                    std::chrono::system_clock::now(), flags.lifetime);
  if (!made) return tl::make_unexpected(made.error());
  return fmt::format("troupe etcd join {} --token {} --ca-hash {} --certificate-key {}\n",
                     join_address(**settings), made->token, keys->authority_hash(),
                     made->certificate_key);
}

void add_below(
    program& to, CLI::App& etcd, const std::string& name, const std::string& about,
    const std::function<void(CLI::App&, etcd_flags&)>& add_flags,
    const std::function<tl::expected<std::string, std::string>(const etcd_flags&)>& run) {
  const auto flags = std::make_shared<etcd_flags>();
  auto& command = to.add(etcd, name, about, [flags, run] {
    config::log_config wanted;
    wanted.level = config::log_level::warning;
    start_logging(wanted);
    const auto text = run(*flags);
    stop_logging();
    if (!text) return fail_with(text.error());
    std::cout << *text;
    return exit_code::done;
  });
  add_data_dir(command, *flags);
  add_flags(command, *flags);
}

}  // namespace

void add_etcd_command(program& to) {
  const auto flags = std::make_shared<etcd_flags>();
  auto& etcd = to.add("etcd", "Runs a member of an etcd for several control planes.",
                      [flags] { return run_etcd(*flags); });
  add_member_flags(etcd, *flags);
  etcd.add_flag(
      "--rejoin", flags->options.rejoin,
      "Removes this member from the cluster and adds it again, empty. Only if its data are "
      "lost.");
  etcd.footer(
      "Control planes store the state of the cluster in it: docs/several-control-planes.md. It "
      "needs a majority of its members: of three members one may fail, of two none.");
  add_join(to, etcd);
  const auto none = [](CLI::App&, etcd_flags&) {};
  add_below(
      to, etcd, "token", "Prints the command by which another machine becomes a member.",
      [](CLI::App& command, etcd_flags& into) {
        add_duration(command, "--ttl", into.lifetime, "How long the command is valid.",
                     std::chrono::seconds{1});
      },
      make_token_line);
  add_below(to, etcd, "members", "Lists the members and their state.", none,
            [](const etcd_flags& given) { return list_members(given.data_dir); });
  add_below(
      to, etcd, "remove", "Removes a member that will not come back.",
      [](CLI::App& command, etcd_flags& into) {
        command.add_option("name", into.member, "Its name.")->type_name("NAME")->required();
      },
      [](const etcd_flags& given) -> tl::expected<std::string, std::string> {
        auto left = remove_member(given.data_dir, given.member);
        if (left) *left = "removed " + given.member + "; " + *left + "\n";
        return left;
      });
  add_below(to, etcd, "leave", "Removes this machine's member, its data and its keys.", none,
            [](const etcd_flags& given) -> tl::expected<std::string, std::string> {
              auto left = leave_members(given.data_dir);
              if (left) *left = "left; " + *left + "\n";
              return left;
            });
}

}  // namespace troupe::tools
