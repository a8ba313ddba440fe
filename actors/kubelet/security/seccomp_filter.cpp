#include "actors/kubelet/security/seccomp_filter.hpp"

#include <fmt/format.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <linux/sched.h>
#include <seccomp.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace troupe::actors {

namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using void_result = tl::expected<void, std::string>;

// System calls that containerd's default profile rejects, and capabilities of which any one allows
// them (contrib/seccomp/seccomp_default.go); none: always rejected.
struct gated_calls {
  std::vector<const char*> capabilities;
  std::vector<const char*> calls;
};

const std::vector<gated_calls>& gates() {
  static const std::vector<gated_calls> all{
      {{},
       {"_sysctl",    "add_key",        "afs_syscall",       "create_module",  "get_kernel_syms",
        "getpmsg",    "io_uring_enter", "io_uring_register", "io_uring_setup", "kexec_file_load",
        "kexec_load", "keyctl",         "migrate_pages",     "move_pages",     "nfsservctl",
        "pivot_root", "putpmsg",        "request_key",       "security",       "swapoff",
        "swapon",     "sysfs",          "tuxcall",           "uselib",         "userfaultfd",
        "ustat",      "vserver"}},
      {{"DAC_READ_SEARCH"}, {"open_by_handle_at"}},
      {{"SYS_ADMIN"},
       {"fanotify_init", "fsconfig", "fsmount", "fsopen", "fspick", "lookup_dcookie", "mount",
        "mount_setattr", "move_mount", "name_to_handle_at", "open_tree", "quotactl", "quotactl_fd",
        "setdomainname", "sethostname", "setns", "umount", "umount2", "unshare"}},
      {{"SYS_ADMIN", "BPF"}, {"bpf"}},
      {{"SYS_ADMIN", "PERFMON"}, {"perf_event_open"}},
      {{"SYS_BOOT"}, {"reboot"}},
      {{"SYS_CHROOT"}, {"chroot"}},
      {{"SYS_MODULE"}, {"delete_module", "finit_module", "init_module", "query_module"}},
      {{"SYS_NICE"}, {"get_mempolicy", "mbind", "set_mempolicy", "set_mempolicy_home_node"}},
      {{"SYS_PACCT"}, {"acct"}},
      {{"SYS_PTRACE"},
       {"kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev",
        "ptrace"}},
      {{"SYS_RAWIO"}, {"ioperm", "iopl"}},
      {{"SYS_TIME"}, {"adjtimex", "clock_adjtime", "clock_settime", "settimeofday", "stime"}},
      {{"SYS_TTY_CONFIG"}, {"vhangup"}}};
  return all;
}

constexpr int known_calls = 512;  // system call numbers that are tried; the kernel has some 460
constexpr std::uint64_t new_namespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                         CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;

bool holds(capability_set held, const char* name) {
  return (held & capability_bit(*capability_number(name))) != 0;
}

std::set<std::string> refused_calls(capability_set held) {
  std::set<std::string> refused;
  for (const auto& gate : gates()) {
    bool open = false;
    for (const auto* each : gate.capabilities)
      open |= holds(held, each);
    if (!open) refused.insert(gate.calls.begin(), gate.calls.end());
  }
  return refused;
}

std::string call_name(int number) {
  char* text = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  std::string name = text != nullptr ? text : "";
  std::free(text);
  return name;
}

// -- a profile of OCI -----------------------------------------------------------------------------

tl::unexpected<std::string> wrong(const std::string& reason) {
  return tl::make_unexpected("seccomp profile: " + reason);
}

const Value* member(const Struct& of, const char* name) {
  const auto found = of.fields().find(name);
  return found == of.fields().end() || found->second.has_null_value() ? nullptr : &found->second;
}

std::string text(const Struct& of, const char* name) {
  const auto* found = member(of, name);
  return found != nullptr ? found->string_value() : std::string{};
}

std::uint64_t number(const Struct& of, const char* name, std::uint64_t otherwise) {
  const auto* found = member(of, name);
  return found != nullptr ? static_cast<std::uint64_t>(found->number_value()) : otherwise;
}

std::optional<std::uint32_t> action_of(const std::string& name, std::uint64_t code) {
  static const std::map<std::string_view, std::uint32_t> plain{
      {"SCMP_ACT_KILL", SCMP_ACT_KILL},
      {"SCMP_ACT_KILL_THREAD", SCMP_ACT_KILL_THREAD},
      {"SCMP_ACT_KILL_PROCESS", SCMP_ACT_KILL_PROCESS},
      {"SCMP_ACT_TRAP", SCMP_ACT_TRAP},
      {"SCMP_ACT_ALLOW", SCMP_ACT_ALLOW},
      {"SCMP_ACT_LOG", SCMP_ACT_LOG}};
  if (name == "SCMP_ACT_ERRNO") return SCMP_ACT_ERRNO(static_cast<std::uint32_t>(code));
  if (name == "SCMP_ACT_TRACE") return SCMP_ACT_TRACE(static_cast<std::uint32_t>(code));
  const auto found = plain.find(name);
  return found == plain.end() ? std::nullopt : std::optional{found->second};
}

std::optional<scmp_compare> comparison_of(const std::string& name) {
  static const std::map<std::string_view, scmp_compare> all{
      {"SCMP_CMP_NE", SCMP_CMP_NE},
      {"SCMP_CMP_LT", SCMP_CMP_LT},
      {"SCMP_CMP_LE", SCMP_CMP_LE},
      {"SCMP_CMP_EQ", SCMP_CMP_EQ},
      {"SCMP_CMP_GE", SCMP_CMP_GE},
      {"SCMP_CMP_GT", SCMP_CMP_GT},
      {"SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ}};
  const auto found = all.find(name);
  return found == all.end() ? std::nullopt : std::optional{found->second};
}

using comparisons = std::vector<scmp_arg_cmp>;

tl::expected<comparisons, std::string> arguments_of(const Struct& rule) {
  comparisons all;
  const auto* asked = member(rule, "args");
  if (asked == nullptr) return all;
  for (const auto& each : asked->list_value().values()) {
    const auto& arg = each.struct_value();
    const auto op = comparison_of(text(arg, "op"));
    const auto index = number(arg, "index", 0);
    if (!op || index > 5) return wrong("an argument of a rule has no such op or index");
    all.push_back(
        {static_cast<unsigned>(index), *op, number(arg, "value", 0), number(arg, "valueTwo", 0)});
  }
  return all;
}

// Each argument in a rule has one comparison; of several for one argument any is enough (runc:
// libcontainer/seccomp, matchCall).
void_result add_rule(scmp_filter_ctx to, std::uint32_t action, const std::string& name,
                     const comparisons& args) {
  const int call = ::seccomp_syscall_resolve_name(name.c_str());
  if (call == __NR_SCMP_ERROR) return {};  // of another kernel or architecture
  std::set<unsigned> indices;
  for (const auto& each : args)
    indices.insert(each.arg);
  int code = 0;
  if (indices.size() == args.size()) {
    code =
        ::seccomp_rule_add_array(to, action, call, static_cast<unsigned>(args.size()), args.data());
  } else {
    for (const auto& each : args)
      if (code == 0) code = ::seccomp_rule_add_array(to, action, call, 1, &each);
  }
  if (code != 0 && code != -EEXIST) return wrong(name + ": " + std::strerror(-code));
  return {};
}

void_result add_rules(scmp_filter_ctx to, const Struct& rule, std::uint32_t by_default) {
  for (const char* unknown : {"includes", "excludes"})
    if (const auto* found = member(rule, unknown);
        found != nullptr && !found->struct_value().fields().empty())
      return wrong(fmt::format("\"{}\" is not supported: use a profile in OCI's format", unknown));
  const auto action = action_of(text(rule, "action"), number(rule, "errnoRet", EPERM));
  if (!action) return wrong("unknown action \"" + text(rule, "action") + "\"");
  const auto args = arguments_of(rule);
  if (!args) return tl::make_unexpected(args.error());
  const auto* names = member(rule, "names");
  if (names == nullptr || names->list_value().values().empty())
    return wrong("a rule has no names of system calls");
  if (*action == by_default) return {};
  for (const auto& name : names->list_value().values())
    if (auto added = add_rule(to, *action, name.string_value(), *args); !added) return added;
  return {};
}

void_result set_flags(scmp_filter_ctx to, const Struct& profile) {
  const auto* asked = member(profile, "flags");
  if (asked == nullptr) return {};
  for (const auto& each : asked->list_value().values()) {
    const auto& name = each.string_value();
    if (name == "SECCOMP_FILTER_FLAG_LOG")
      ::seccomp_attr_set(to, SCMP_FLTATR_CTL_LOG, 1);
    else if (name == "SECCOMP_FILTER_FLAG_SPEC_ALLOW")
      ::seccomp_attr_set(to, SCMP_FLTATR_CTL_SSB, 1);
    else if (name != "SECCOMP_FILTER_FLAG_TSYNC")  // the process has one thread
      return wrong("unknown flag \"" + name + "\"");
  }
  return {};
}

void_result add_architectures(scmp_filter_ctx to, const Struct& profile) {
  const auto* asked = member(profile, "architectures");
  if (asked == nullptr) return {};
  for (const auto& each : asked->list_value().values()) {
    std::string name = each.string_value();
    constexpr std::string_view prefix = "SCMP_ARCH_";
    if (!name.starts_with(prefix)) return wrong("unknown architecture \"" + name + "\"");
    name.erase(0, prefix.size());
    for (auto& c : name)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto token = ::seccomp_arch_resolve_name(name.c_str());
    if (token == 0) return wrong("unknown architecture \"" + each.string_value() + "\"");
    const int code = ::seccomp_arch_add(to, token);
    if (code != 0 && code != -EEXIST)
      return wrong(each.string_value() + ": " + std::strerror(-code));
  }
  return {};
}

}  // namespace

seccomp_filter::seccomp_filter(void* context) : context_{context, ::seccomp_release} {
  // The caller of load() decides about no_new_privs.
  ::seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0);
}

tl::expected<seccomp_filter, std::string> seccomp_filter::runtime_default(capability_set held) {
  scmp_filter_ctx context = ::seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
  if (context == nullptr) return wrong("no memory");
  seccomp_filter filter{context};
  ::seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
  const auto refused = refused_calls(held);
  const bool may_make_namespaces = holds(held, "SYS_ADMIN");
  for (int call = 0; call < known_calls; ++call) {
    const auto name = call_name(call);
    if (name.empty()) continue;
    int code = 0;
    if (refused.contains(name)) {
      code = ::seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), call, 0);
    } else if (name == "personality") {
      // Linux, the BSD with the same bits, and the query of the current value.
      for (const std::uint64_t each : {0x0ul, 0x8ul, 0x20000ul, 0x20008ul, 0xfffffffful})
        code |= ::seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_EQ, each));
    } else if (name == "clone" && !may_make_namespaces) {
      code = ::seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 1,
                                SCMP_A0(SCMP_CMP_MASKED_EQ, new_namespaces, 0));
    } else if (name != "clone3" || may_make_namespaces) {
      // The filter cannot read the flags of clone3: libraries fall back to clone on ENOSYS.
      code = ::seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 0);
    }
    if (code != 0) return wrong(name + ": " + std::strerror(-code));
  }
  return filter;
}

tl::expected<seccomp_filter, std::string> seccomp_filter::of_profile(const std::string& json) {
  Struct profile;
  if (const auto read = google::protobuf::util::JsonStringToMessage(json, &profile); !read.ok())
    return wrong("not a JSON object: " + read.message().ToString());
  const auto by_default =
      action_of(text(profile, "defaultAction"), number(profile, "defaultErrnoRet", EPERM));
  if (!by_default) return wrong("unknown defaultAction \"" + text(profile, "defaultAction") + "\"");
  for (const char* unknown : {"listenerPath", "listenerMetadata"})
    if (!text(profile, unknown).empty()) return wrong(std::string{unknown} + " is not supported");
  scmp_filter_ctx context = ::seccomp_init(*by_default);
  if (context == nullptr) return wrong("no memory");
  seccomp_filter filter{context};
  if (auto set = set_flags(context, profile); !set) return tl::make_unexpected(set.error());
  if (auto added = add_architectures(context, profile); !added)
    return tl::make_unexpected(added.error());
  if (const auto* rules = member(profile, "syscalls"))
    for (const auto& rule : rules->list_value().values())
      if (auto added = add_rules(context, rule.struct_value(), *by_default); !added)
        return tl::make_unexpected(added.error());
  return filter;
}

void_result seccomp_filter::load() const {
  if (const int code = ::seccomp_load(context_.get()); code != 0)
    return tl::make_unexpected(
        fmt::format("cannot load the seccomp profile: {}", std::strerror(-code)));
  return {};
}

}  // namespace troupe::actors
