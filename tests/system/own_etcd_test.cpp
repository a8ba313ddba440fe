// `troupe etcd`: members that start an etcd from nothing, are killed, lost, removed and added
// again. Real processes on one machine.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>

#include "build_paths.hpp"
#include "etcd/etcd_server.hpp"
#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/programs/process.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const std::string troupe = TROUPE_BINARY_DIR "/troupe";
const std::string maps = "/api/v1/namespaces/default/configmaps";
const http_client::fields json{{"content-type", "application/json"}};

// Returns both outputs. A member that starts although it should be refused would run for ever.
process_result run(const std::string& arguments) {
  return shell(fmt::format("timeout 120 {} {} 2>&1", troupe, arguments));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

class member {
 public:
  // With the addresses of an earlier member of the machine, or new ones.
  member(fs::path folder, const std::string& name)
      : folder_{std::move(folder)},
        flags_{"--data-dir", folder_.string(),     "--name", name, "--heartbeat-interval",
               "50ms",       "--election-timeout", "500ms"} {
    for (const auto* flag : {"--listen-client", "--listen-peer", "--listen-join"}) {
      addresses_.emplace_back(flag);
      addresses_.push_back(fmt::format("127.0.0.1:{}", free_port()));
    }
    flags_.insert(flags_.end(), addresses_.begin(), addresses_.end());
  }

  // `line`: the words after "troupe etcd"; empty for the first member.
  void start(const std::vector<std::string>& line = {}) {
    std::vector<std::string> command{troupe, "etcd"};
    command.insert(command.end(), line.begin(), line.end());
    command.insert(command.end(), flags_.begin(), flags_.end());
    process_ = std::make_unique<process>(command, log());
    const auto ready = process_->read_line(120s);
    INFO(read_file(log()));
    REQUIRE_THAT(ready, Contains("ready https://127.0.0.1:"));
    node_line_ = process_->read_line(60s);
  }
  void join(const member& through) { start(through.join_words()); }

  // Without "troupe etcd".
  std::vector<std::string> join_words(const std::string& flags = {}) const {
    const auto made =
        shell(fmt::format("{} etcd token --data-dir {} {}", troupe, folder_.string(), flags));
    REQUIRE(made.code == 0);
    auto words = words_of(made.output);
    words.erase(words.begin(), words.begin() + 2);
    return words;
  }
  std::string members() const { return run("etcd members --data-dir " + folder_.string()).output; }
  // Elections may come at any time, and a request meanwhile gets no answer.
  bool comes_to_show(const std::string& text) const {
    return eventually([&] { return members().find(text) != std::string::npos; });
  }
  // Whether all of this number of members are healthy.
  bool is_whole(std::size_t members_wanted) const {
    const auto text = members();
    return count(text, "  leader ") == 1 && count(text, "  follower ") == members_wanted - 1 &&
           text.find(fmt::format("\n{} member", members_wanted)) != text.npos;
  }
  pid_t child() const {
    const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", process_->id()));
    return children.empty() ? 0 : std::stoi(children);
  }
  process& of() { return *process_; }
  void end() { process_.reset(); }
  const fs::path& folder() const { return folder_; }
  fs::path log() const { return folder_.string() + ".log"; }
  // The flags for control planes that the member prints, from "--store" on.
  std::vector<std::string> node_flags() const {
    auto words = words_of(node_line_);
    words.erase(words.begin(), std::find(words.begin(), words.end(), "--store"));
    return words;
  }
  std::string flags() const { return fmt::format("{}", fmt::join(flags_, " ")); }

 private:
  fs::path folder_;
  std::vector<std::string> flags_, addresses_;
  std::unique_ptr<process> process_;
  std::string node_line_;
};

bool is_gone(pid_t id) {
  return ::kill(id, 0) != 0;
}

}  // namespace

TEST_CASE("three machines make an etcd from nothing, and go on when any of it is killed",
          "[etcd][members]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder place;
  member a{place.path() / "a", "a"}, b{place.path() / "b", "b"}, c{place.path() / "c", "c"};
  a.start();
  CHECK(a.comes_to_show("1 member: the loss of none is tolerated"));
  b.join(a);
  CHECK(a.comes_to_show("2 members: the loss of none is tolerated, the failure of either"));
  c.join(b);
  REQUIRE(eventually([&] { return c.is_whole(3); }));
  CHECK(a.comes_to_show("3 members: the loss of 1 is tolerated"));

  // A control plane uses it, with the flags that a member prints.
  auto plane = std::make_unique<node>(place.path() / "plane", c.node_flags());
  // On a new connection each, until it exists: a client without a response retries.
  const auto write = [&](int i) {
    return eventually([&] {
      http_client client{plane->where()};
      const auto body = fmt::format(R"({{"metadata":{{"name":"m{}"}}}})", i);
      const auto status = client.request("POST", maps, body, json).status;
      return status == 201 || status == 409;
    });
  };
  REQUIRE(write(0));

  // Kills the child of one.
  const auto killed = a.child();
  REQUIRE(killed > 1);
  ::kill(killed, SIGKILL);
  CHECK(write(1));
  CHECK(eventually([&] { return b.is_whole(3); }));
  CHECK(a.child() != killed);
  CHECK_THAT(read_file(a.log()), Contains("it has ended by signal 9, and restarts"));

  // Kills the supervisor of another: its etcd ends with it, by SIGTERM, and both restart.
  const auto orphan = b.child();
  b.of().signal(SIGKILL);
  REQUIRE(b.of().wait(60s));
  CHECK(eventually([&] { return is_gone(orphan); }));
  CHECK(a.comes_to_show("no answer"));
  CHECK(write(2));
  b.start();
  CHECK(eventually([&] { return a.is_whole(3); }));

  // SIGTERM ends both cleanly, and the control plane switches to another member.
  const auto last = c.child();
  c.of().signal(SIGTERM);
  CHECK(c.of().wait(60s) == 0);
  CHECK(is_gone(last));
  CHECK(write(3));
  http_client client{plane->where()};
  for (int i = 0; i < 4; ++i)
    CHECK(eventually(
        [&] { return client.request("GET", fmt::format("{}/m{}", maps, i)).status == 200; }));
}

TEST_CASE("a member with lost data is added again, one is removed, and one leaves",
          "[etcd][members]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder place;
  member a{place.path() / "a", "a"}, b{place.path() / "b", "b"}, c{place.path() / "c", "c"};
  a.start();
  b.join(a);
  c.join(a);
  REQUIRE(eventually([&] { return a.is_whole(3); }));

  // Its data alone are lost, or their disk is not mounted: only somebody who knows says so.
  c.end();
  fs::remove_all(c.folder() / "member-data");
  const auto refused = run(fmt::format("etcd {}", c.flags()));
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, Contains("member c has served, and") && Contains("--rejoin"));
  CHECK_FALSE(fs::exists(c.folder() / "member-data"));
  CHECK(a.comes_to_show("3 members"));
  c.start({"--rejoin"});
  CHECK_THAT(read_file(c.log()), Contains("it is removed and added again"));
  REQUIRE(eventually([&] { return a.is_whole(3); }));
  // The flag is not left in a unit file, where it would be in force at the next loss.
  c.end();
  const auto left = run(fmt::format("etcd {} --rejoin", c.flags()));
  CHECK(left.code == 1);
  CHECK_THAT(left.output, Contains("member c has its data") && Contains("without --rejoin"));
  c.start();
  REQUIRE(eventually([&] { return a.is_whole(3); }));

  // While one is lost, no machine is added except the lost one.
  c.end();
  fs::remove_all(c.folder());
  const auto unknown = run(fmt::format("etcd {} --rejoin", c.flags()));
  CHECK(unknown.code == 1);
  CHECK_THAT(unknown.output, Contains("there is no member.json"));
  const member d{place.path() / "d", "d"};
  const auto line = fmt::format("{}", fmt::join(a.join_words(), " "));
  CHECK_THAT(run(fmt::format("etcd {} {}", line, d.flags())).output,
             Contains("member c does not answer: members are added only while all are well"));
  CHECK_FALSE(fs::exists(d.folder() / "pki"));
  CHECK_THAT(run("etcd remove b --data-dir " + a.folder().string()).output,
             Contains("without b only 1 of 2 members would be healthy"));
  c.join(b);
  REQUIRE(eventually([&] { return a.is_whole(3); }));

  CHECK_THAT(
      run("etcd remove c --data-dir " + a.folder().string()).output,
      Contains("removed c; 2 members: the loss of none is tolerated, the failure of either"));
  CHECK(c.of().wait(60s) == 0);
  CHECK_THAT(c.of().read_line(1s), Contains("next machine"));
  CHECK_THAT(c.of().read_line(1s), Contains("the other members have removed this one"));
  // As after `troupe etcd leave` that was interrupted.
  CHECK_THAT(run("etcd leave --data-dir " + c.folder().string()).output,
             Contains("left; 2 members"));
  CHECK_FALSE(fs::exists(c.folder() / "pki"));
  CHECK_FALSE(fs::exists(c.folder() / "member-data"));
  REQUIRE(eventually([&] { return a.is_whole(2); }));
  CHECK_THAT(run("etcd leave --data-dir " + b.folder().string()).output,
             Contains("left; 1 member"));
  CHECK_FALSE(fs::exists(b.folder() / "pki"));
  CHECK_FALSE(fs::exists(b.folder() / "member-data"));
  CHECK(eventually([&] { return a.is_whole(1); }));
  CHECK_THAT(run("etcd leave --data-dir " + a.folder().string()).output,
             Contains("a is the last member"));
}

TEST_CASE("a machine that cannot become a member learns why, and leaves nothing behind",
          "[etcd][members]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder place;
  member a{place.path() / "a", "a"};
  const member b{place.path() / "b", "b"};
  a.start();
  const auto refused = [&](const std::vector<std::string>& words) {
    const auto ended = run(fmt::format("etcd {} {}", fmt::join(words, " "), b.flags()));
    CHECK(ended.code == 1);
    CHECK_FALSE(fs::exists(b.folder() / "pki"));
    CHECK_FALSE(fs::exists(b.folder() / "member.json"));
    return ended.output;
  };
  const auto good = a.join_words();  // join ADDRESS --token T --ca-hash H --certificate-key K
  const auto with = [&](std::size_t at, const std::string& text) {
    auto words = good;
    words.at(at) = text;
    return words;
  };
  CHECK_THAT(refused(with(3, "aaaaaa.0123456789abcdef")),
             Contains("the token is unknown or expired"));
  CHECK_THAT(refused(with(3, "x")), Contains("--token: expected ID.SECRET"));
  CHECK_THAT(refused(with(5, "sha256:" + std::string(64, '0'))),
             Contains("its certificate authority does not match --ca-hash"));
  CHECK_THAT(refused(with(7, std::string(64, '0'))),
             Contains("--certificate-key does not belong to this token"));
  CHECK_THAT(refused(with(1, "127.0.0.1:1")), Contains("(troupe etcd --listen-join)"));
  const auto file = a.folder() / "tokens" / good.at(3).substr(0, 6);
  const auto over = std::regex_replace(read_file(file), std::regex{"\"expires\": *\"[0-9]+\""},
                                       "\"expires\":\"1\"");
  std::ofstream{file} << over;
  CHECK_THAT(refused(good), Contains("unknown or expired"));
  CHECK(a.comes_to_show("1 member"));

  // Flags with which nothing can run.
  CHECK_THAT(run("etcd --etcd-binary /nowhere/etcd " + b.flags()).output,
             Contains("install the package etcd-server"));
  CHECK_THAT(run("etcd " + a.flags()).output, Contains("in use by another node"));
  CHECK_THAT(run("etcd members --data-dir " + b.folder().string()).output,
             Contains("no member of an etcd runs there"));
  CHECK_THAT(run("etcd --election-timeout 100ms " +
                 fmt::format("--name x --data-dir {}", b.folder().string()))
                 .output,
             Contains("five times --heartbeat-interval"));
}
