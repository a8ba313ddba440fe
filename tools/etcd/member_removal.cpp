#include "tools/etcd/member_removal.hpp"

#include <fmt/format.h>

#include <thread>

#include "tools/etcd/member_keys.hpp"
#include "tools/etcd/member_settings.hpp"
#include "tools/etcd/membership.hpp"
#include "tools/node/node_folder.hpp"

namespace troupe::tools {

namespace fs = std::filesystem;

namespace {

using text_result = tl::expected<std::string, std::string>;

struct contact {
  member_settings settings;
  std::unique_ptr<persistence::etcd_members> members;
  member_views views;
};

tl::expected<contact, std::string> ask(const fs::path& data_dir) {
  auto settings = load_member_settings(data_dir);
  if (!settings) return tl::make_unexpected(settings.error());
  if (!*settings)
    return tl::make_unexpected(
        fmt::format("data dir {}: no member of an etcd runs there; name another with --data-dir",
                    data_dir.string()));
  auto members = open_etcd_members(etcd_client(data_dir, (*settings)->endpoints));
  if (!members) return tl::make_unexpected(members.error().message);
  auto views = read_members(**members);
  if (!views) return tl::make_unexpected(views.error().message);
  return contact{std::move(**settings), std::move(*members), std::move(*views)};
}

text_result remove(contact& at, const std::string& name) {
  const auto id = plan_removal(at.views, name);
  if (!id) return tl::make_unexpected(id.error());
  const auto removed = change_members<void>([&] { return at.members->remove(*id); });
  if (!removed) return tl::make_unexpected(removed.error().message);
  std::erase_if(at.views, [&](const member_view& each) { return each.member.id == *id; });
  return tolerance_text(voters_of(at.views));
}

// Continues with what can be removed after an error, which is returned. The keys are last: with
// them the command can be repeated.
tl::expected<void, std::string> remove_files(const fs::path& data_dir) {
  tl::expected<void, std::string> done;
  for (const auto* each : {"tokens", "member-data", "member.json", "pki"}) {
    std::error_code failed;
    fs::remove_all(data_dir / each, failed);
    if (failed && done)
      done = tl::make_unexpected(fmt::format("the member is removed, but {} remains: {}",
                                             (data_dir / each).string(), failed.message()));
  }
  return done;
}

bool await_end(const fs::path& data_dir) {
  const auto until = std::chrono::steady_clock::now() + etcd_defaults::leave_limit;
  while (node_folder::holder(data_dir)) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(etcd_defaults::check_period);
  }
  return true;
}

}  // namespace

text_result list_members(const fs::path& data_dir) {
  const auto found = ask(data_dir);
  if (!found) return tl::make_unexpected(found.error());
  return members_text(found->views);
}

text_result remove_member(const fs::path& data_dir, const std::string& name) {
  auto found = ask(data_dir);
  if (!found) return tl::make_unexpected(found.error());
  return remove(*found, name);
}

text_result leave_members(const fs::path& data_dir) {
  auto found = ask(data_dir);
  if (!found) return tl::make_unexpected(found.error());
  const auto& own = found->settings;
  // Nullopt: removed by an earlier attempt that was interrupted, or by another machine.
  const auto id = find_own(found->views, own.name, peer_url(own));
  if (!id) return tl::make_unexpected(id.error());
  const auto left = *id ? remove(*found, fmt::format("{:x}", **id))
                        : text_result{tolerance_text(voters_of(found->views))};
  if (!left) return left;
  if (!await_end(data_dir))
    return tl::make_unexpected(
        fmt::format("the member is removed, but the process that uses {} does not end: end it, and "
                    "leave again",
                    data_dir.string()));
  if (auto removed = remove_files(data_dir); !removed) return tl::make_unexpected(removed.error());
  return left;
}

}  // namespace troupe::tools
