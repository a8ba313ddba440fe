// Decides which changes of an etcd's members keep its majority. Pure, except for the two functions
// that call etcd.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "persistence/etcd/members.hpp"
#include "tools/etcd/defaults.hpp"

namespace troupe::tools {

struct member_view {
  persistence::etcd_member member;
  // Nullopt: the member does not answer.
  std::optional<persistence::etcd_member_status> status;
};
using member_views = std::vector<member_view>;

// Whether the same change may succeed a moment later. etcd regards members as healthy once they
// have been connected for five seconds; and it derives a member's id from address and second, so
// that a member added in the second of its predecessor has a removed id ("member not found").
bool is_too_early(const persistence::error& refusal);

// Repeats a change of members while it is too early. Blocks for at most
// `etcd_defaults::health_limit`.
template <class T>
persistence::expected<T> change_members(const std::function<persistence::expected<T>()>& change) {
  const auto until = std::chrono::steady_clock::now() + etcd_defaults::health_limit;
  for (;;) {
    auto done = change();
    if (done || !is_too_early(done.error()) || std::chrono::steady_clock::now() > until)
      return done;
    std::this_thread::sleep_for(etcd_defaults::ask_period);
  }
}

// Queries each member.
persistence::expected<member_views> read_members(persistence::etcd_members& of);

// The member's name, or its address if it has not started yet.
std::string name_of(const persistence::etcd_member& member);

struct join_plan {
  enum class step : std::uint8_t {
    add,
    take_over,  // `id` was added for this machine but never started
    replace,    // `id` is this machine's, which has lost its data
  };
  step first = step::add;
  std::uint64_t id = 0;
};

// Plans how a machine without data becomes a member; the error says why it may not, and the remedy.
tl::expected<join_plan, std::string> plan_join(const member_views& members, const std::string& name,
                                               const std::string& peer_url);

// The id of this machine's own member, also if it has not started yet; nullopt if it was removed.
// Fails if another machine has taken its name.
tl::expected<std::optional<std::uint64_t>, std::string> find_own(const member_views& members,
                                                                 const std::string& name,
                                                                 const std::string& peer_url);

// The id of the member with that name or id, if the others keep their majority without it.
tl::expected<std::uint64_t, std::string> plan_removal(const member_views& members,
                                                      const std::string& name);

// etcd's list of initial members for a machine that is about to start, including itself.
std::string initial_cluster(const std::vector<persistence::etcd_member>& members,
                            const std::string& name, const std::string& peer_url);
std::vector<std::string> client_urls(const std::vector<persistence::etcd_member>& members);

// "3 members: the loss of 1 is tolerated".
std::string tolerance_text(std::size_t voters);
std::size_t voters_of(const member_views& members);

// A table for users, and tolerance_text().
std::string members_text(const member_views& members);

}  // namespace troupe::tools
