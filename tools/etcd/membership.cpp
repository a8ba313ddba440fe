#include "tools/etcd/membership.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/etcd/defaults.hpp"

namespace troupe::tools {

namespace {

using persistence::etcd_member;

bool has_started(const etcd_member& member) {
  return !member.name.empty();
}

bool is_well(const member_view& view) {
  return view.status && view.status->leader != 0;
}

bool has_url(const etcd_member& member, const std::string& peer_url) {
  return std::find(member.peer_urls.begin(), member.peer_urls.end(), peer_url) !=
         member.peer_urls.end();
}

std::size_t majority(std::size_t voters) {
  return voters / 2 + 1;
}

std::size_t well_voters(const member_views& members, std::uint64_t without = 0) {
  return static_cast<std::size_t>(
      std::count_if(members.begin(), members.end(), [&](const member_view& each) {
        return each.member.id != without && !each.member.is_learner && is_well(each);
      }));
}

std::string state_of(const member_view& view) {
  if (!has_started(view.member)) return "not started";
  if (!view.status) return "no answer";
  if (view.member.is_learner) return "learner";
  if (view.status->leader == 0) return "no leader";
  return view.status->leader == view.member.id ? "leader" : "follower";
}

// Why a member cannot be added, from the state of the other members; ignores the member `but`.
tl::expected<void, std::string> check_peace(const member_views& members, std::uint64_t but) {
  for (const auto& each : members) {
    if (each.member.id == but) continue;
    const auto name = name_of(each.member);
    if (each.member.is_learner || !has_started(each.member))
      return tl::make_unexpected(
          fmt::format("member {} is still joining, and one joins at a time: try again when it has, "
                      "or remove it (troupe etcd remove {})",
                      name, name));
    if (!is_well(each))
      return tl::make_unexpected(
          fmt::format("member {} {}: members are added only while all are well, so that a majority "
                      "stays; start it, or remove it (troupe etcd remove {})",
                      name, each.status ? "knows no leader" : "does not answer", name));
  }
  return {};
}

}  // namespace

bool is_too_early(const persistence::error& refusal) {
  const auto says = [&](const char* text) {
    return refusal.message.find(text) != std::string::npos;
  };
  return says("unhealthy cluster") || says("member not found");
}

persistence::expected<member_views> read_members(persistence::etcd_members& of) {
  const auto found = of.list();
  if (!found) return persistence::fail(found.error());
  member_views views;
  for (const auto& each : *found) {
    member_view view{each, {}};
    for (const auto& url : each.client_urls)
      if (auto status = of.status(url); status && status->member == each.id) {
        view.status = std::move(*status);
        break;
      }
    views.push_back(std::move(view));
  }
  std::sort(views.begin(), views.end(), [](const member_view& a, const member_view& b) {
    return a.member.name < b.member.name;
  });
  return views;
}

std::string name_of(const etcd_member& member) {
  if (has_started(member)) return member.name;
  return member.peer_urls.empty() ? fmt::format("{:x}", member.id) : member.peer_urls.front();
}

tl::expected<join_plan, std::string> plan_join(const member_views& members, const std::string& name,
                                               const std::string& peer_url) {
  const auto same = std::find_if(members.begin(), members.end(), [&](const member_view& each) {
    return each.member.name == name || has_url(each.member, peer_url);
  });
  if (same == members.end()) {
    if (auto peace = check_peace(members, 0); !peace) return tl::make_unexpected(peace.error());
    if (members.size() >= etcd_defaults::members)
      return tl::make_unexpected(
          fmt::format("it has {} members, more only make it slower", members.size()));
    return join_plan{};
  }
  const auto& mine = same->member;
  if (same->status)
    return tl::make_unexpected(
        fmt::format("a member {} at {} is there already and answers: give this one another name "
                    "(--name) or address",
                    mine.name, fmt::join(mine.peer_urls, ", ")));
  if (auto peace = check_peace(members, mine.id); !peace) return tl::make_unexpected(peace.error());
  if (!has_started(mine) && mine.is_learner) return join_plan{join_plan::step::take_over, mine.id};
  const auto voters = voters_of(members);
  if (!mine.is_learner && well_voters(members, mine.id) < majority(voters))
    return tl::make_unexpected(fmt::format(
        "only one of {} members is left, which is no majority: it cannot remove the lost one ({})",
        voters, tolerance_text(voters)));
  return join_plan{join_plan::step::replace, mine.id};
}

tl::expected<std::optional<std::uint64_t>, std::string> find_own(const member_views& members,
                                                                 const std::string& name,
                                                                 const std::string& peer_url) {
  for (const auto& each : members)
    if (has_url(each.member, peer_url)) return each.member.id;
  for (const auto& each : members)
    if (each.member.name == name)
      return tl::make_unexpected(
          fmt::format("member {} is another machine now, at {}; {} is no member: end its process, "
                      "and remove its data dir",
                      name, fmt::join(each.member.peer_urls, ", "), peer_url));
  return std::nullopt;
}

tl::expected<std::uint64_t, std::string> plan_removal(const member_views& members,
                                                      const std::string& name) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const member_view& each) {
    return name_of(each.member) == name || fmt::format("{:x}", each.member.id) == name;
  });
  if (found == members.end())
    return tl::make_unexpected(fmt::format("there is no member {}: see troupe etcd members", name));
  const auto id = found->member.id;
  const auto shown = name_of(found->member);
  if (found->member.is_learner) return id;
  const auto voters = voters_of(members);
  if (voters == 1)
    return tl::make_unexpected(fmt::format("{} is the last member and has the only data", shown));
  const auto left = well_voters(members, id);
  if (left < majority(voters - 1) || well_voters(members) < majority(voters))
    return tl::make_unexpected(
        fmt::format("without {} only {} of {} members would be healthy, and a majority is {}: "
                    "start another one first",
                    shown, left, voters - 1, majority(voters - 1)));
  return id;
}

std::string initial_cluster(const std::vector<etcd_member>& members, const std::string& name,
                            const std::string& peer_url) {
  std::string line = name + "=" + peer_url;
  for (const auto& each : members)
    for (const auto& url : each.peer_urls)
      if (has_started(each) && url != peer_url) line += "," + each.name + "=" + url;
  return line;
}

std::vector<std::string> client_urls(const std::vector<etcd_member>& members) {
  std::vector<std::string> urls;
  for (const auto& each : members)
    urls.insert(urls.end(), each.client_urls.begin(), each.client_urls.end());
  std::sort(urls.begin(), urls.end());
  return urls;
}

std::size_t voters_of(const member_views& members) {
  return static_cast<std::size_t>(
      std::count_if(members.begin(), members.end(),
                    [](const member_view& each) { return !each.member.is_learner; }));
}

std::string tolerance_text(std::size_t voters) {
  const auto lost = voters - majority(voters);
  const auto members = fmt::format("{} member{}", voters, voters == 1 ? "" : "s");
  if (voters == 2)
    return members +
           ": the loss of none is tolerated, the failure of either stops all writes; add a third";
  if (lost == 0) return members + ": the loss of none is tolerated";
  return fmt::format("{}: the loss of {} is tolerated{}", members, lost,
                     voters % 2 == 0 ? ", as with one fewer" : "");
}

std::string members_text(const member_views& members) {
  std::size_t widest = 4;
  for (const auto& each : members)
    widest = std::max(widest, name_of(each.member).size());
  std::string text =
      fmt::format("{:<{}}  {:<16}  {:<11}  {:<8}  {:>10}  {:>11}  {}\n", "NAME", widest, "ID",
                  "STATE", "VERSION", "DB SIZE", "RAFT INDEX", "CLIENTS");
  for (const auto& each : members) {
    const auto& status = each.status;
    text += fmt::format(
        "{:<{}}  {:016x}  {:<11}  {:<8}  {:>10}  {:>11}  {}\n", name_of(each.member), widest,
        each.member.id, state_of(each), status ? status->version : "-",
        status ? fmt::format("{:.1f} MiB", static_cast<double>(status->size_bytes) / (1 << 20))
               : "-",
        status ? std::to_string(status->raft_index) : "-",
        each.member.client_urls.empty() ? "-" : each.member.client_urls.front());
    if (!status) continue;
    for (const auto& alarm : status->errors)
      text += fmt::format("  {}: {}\n", name_of(each.member), alarm);
  }
  return text + tolerance_text(voters_of(members)) + "\n";
}

}  // namespace troupe::tools
