#include "actors/kubelet/runtimes/process/container_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "runtime/unique_fd.hpp"

namespace troupe::actors {

namespace {

// Strings are stored as "<length>:<bytes>", so they may contain any byte.
void put(std::string& out, const std::string& text) {
  out += std::to_string(text.size()) + ':' + text;
}

void put(std::string& out, const std::vector<std::string>& all) {
  put(out, std::to_string(all.size()));
  for (const auto& each : all)
    put(out, each);
}

class reader {
 public:
  explicit reader(std::string_view text) : left_{text} {}

  std::string text() {
    const auto colon = left_.find(':');
    if (colon == std::string_view::npos || colon > 9) return broken();
    std::size_t length = 0;
    for (const char digit : left_.substr(0, colon)) {
      if (digit < '0' || digit > '9') return broken();
      length = length * 10 + static_cast<std::size_t>(digit - '0');
    }
    if (left_.size() - colon - 1 < length) return broken();
    std::string result{left_.substr(colon + 1, length)};
    left_.remove_prefix(colon + 1 + length);
    return result;
  }
  std::vector<std::string> list() {
    std::vector<std::string> all;
    const auto count = std::strtoul(text().c_str(), nullptr, 10);
    for (std::size_t i = 0; i < count && good_; ++i)
      all.push_back(text());
    return all;
  }
  bool good() const noexcept { return good_; }
  bool left() const noexcept { return !left_.empty(); }

 private:
  std::string broken() {
    good_ = false;
    return {};
  }
  std::string_view left_;
  bool good_ = true;
};

// The content of a small file; nothing if it does not exist.
std::optional<std::string> read_whole(const std::filesystem::path& path) {
  const runtime::unique_fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.get() < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
    throw std::system_error{errno, std::generic_category(), path.string()};
  if (file.get() < 0) return std::nullopt;
  std::string text;
  char part[4096];
  for (ssize_t n = 0; (n = ::read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  return text;
}

void put(std::string& out, const process_security& security) {
  const auto id = [](const std::optional<std::uint32_t>& value) {
    return value ? std::to_string(*value) : std::string{};
  };
  put(out,
      std::vector{std::to_string(static_cast<int>(security.confined_by)), id(security.user),
                  id(security.group), std::to_string(security.capabilities),
                  fmt::format("{:d}{:d}{:d}{:d}", security.merge_groups, security.privileged,
                              security.no_new_privileges, security.read_only_root),
                  std::to_string(static_cast<int>(security.seccomp)), security.seccomp_profile});
  std::vector<std::string> groups;
  for (const auto each : security.groups)
    groups.push_back(std::to_string(each));
  put(out, groups);
  put(out, security.hidden);
}

// Returns nothing if the list is empty.
std::optional<process_security> read_security(reader& reader) {
  process_security security;
  auto values = reader.list();
  if (values.empty()) return std::nullopt;
  values.resize(7);
  const auto id = [](const std::string& text) {
    return text.empty()
               ? std::nullopt
               : std::optional{static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10))};
  };
  security.confined_by = static_cast<confinement>(std::atoi(values[0].c_str()));
  security.user = id(values[1]);
  security.group = id(values[2]);
  security.capabilities = std::strtoull(values[3].c_str(), nullptr, 10);
  const auto flag = [&](std::size_t i) { return values[4].size() > i && values[4][i] == '1'; };
  security.merge_groups = flag(0);
  security.privileged = flag(1);
  security.no_new_privileges = flag(2);
  security.read_only_root = flag(3);
  security.seccomp = static_cast<seccomp_kind>(std::atoi(values[5].c_str()));
  security.seccomp_profile = values[6];
  for (const auto& each : reader.list())
    security.groups.push_back(id(each).value_or(0));
  security.hidden = reader.list();
  return security;
}

}  // namespace

std::optional<process_id> identify(pid_t pid) {
  const auto text = read_whole(fmt::format("/proc/{}/stat", pid));
  if (!text || text->empty()) return std::nullopt;
  const auto line = text->substr(0, text->find('\n'));
  // The second field is the command in parentheses, any text; the 22nd is the start time.
  std::istringstream rest{line.substr(line.rfind(')') + 2)};
  std::string field;
  char state = 0;
  rest >> state;
  for (int i = 4; i <= 22; ++i)
    rest >> field;
  if (!rest || state == 'Z' || state == 'X') return std::nullopt;
  return process_id{pid, std::strtoull(field.c_str(), nullptr, 10)};
}

std::int64_t wall_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

bool process_id::alive() const {
  const auto now = pid > 0 ? identify(pid) : std::nullopt;
  return now && now->started == started;
}

bool process_id::signal(int number, bool group) const {
  return alive() && ::kill(group ? -pid : pid, number) == 0;
}

std::string container_dir::group() const {
  const auto container = path_.parent_path();
  return fmt::format("{}/{}-{}", container.parent_path().parent_path().filename().string(),
                     container.filename().string(), path_.filename().string());
}

bool container_dir::is_running() const {
  const auto now = running();
  return now && !exit() && now->shim.alive();
}

tl::expected<void, std::string> container_dir::replace(const char* name,
                                                       const std::string& content) const {
  const auto target = path_ / name;
  const auto draft = path_ / (std::string{name} + ".new");
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool ok = fd >= 0;
  for (std::size_t done = 0; ok && done < content.size();) {
    const auto n = ::write(fd, content.data() + done, content.size() - done);
    ok = n > 0;
    done += ok ? static_cast<std::size_t>(n) : 0;
  }
  ok = fd >= 0 && ::close(fd) == 0 && ok;
  if (!ok || ::rename(draft.c_str(), target.c_str()) != 0)
    return tl::make_unexpected(
        fmt::format("cannot write {}: {}", target.string(), std::strerror(errno)));
  return {};
}

std::optional<std::string> container_dir::read(const char* name) const {
  return read_whole(path_ / name);
}

tl::expected<void, std::string> container_dir::make() const {
  std::error_code problem;
  std::filesystem::create_directories(path_, problem);
  if (problem || ::chmod(path_.c_str(), 0700) != 0)
    return tl::make_unexpected(
        fmt::format("cannot make {}: {}", path_.string(),
                    problem ? problem.message() : std::string{std::strerror(errno)}));
  return {};
}

tl::expected<std::string, std::string> container_dir::write_resolver(
    const std::string& text) const {
  constexpr const char* name = "resolv.conf";
  if (auto made = make(); !made) return tl::make_unexpected(made.error());
  if (auto written = replace(name, text); !written) return tl::make_unexpected(written.error());
  const auto file = (path_ / name).string();
  if (::chmod(file.c_str(), 0644) != 0)
    return tl::make_unexpected(fmt::format("cannot open {}: {}", file, std::strerror(errno)));
  return file;
}

tl::expected<void, std::string> container_dir::write(const container_spec& spec) const {
  if (auto made = make(); !made) return made;
  std::string text;
  put(text, spec.command);
  put(text, spec.environment);
  put(text, spec.working_dir);
  put(text, spec.log_file);
  std::vector<std::string> mounts;
  for (const auto& m : spec.mounts) {
    mounts.push_back(m.source);
    mounts.push_back(m.sub_path);
    mounts.push_back(m.target);
    mounts.push_back(fmt::format("{}{}", m.read_only ? "ro" : "rw", m.own ? "" : ",host"));
  }
  put(text, mounts);
  const auto limit = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : std::string{};
  };
  put(text,
      std::vector{limit(spec.limits.memory_bytes), limit(spec.limits.milli_cpu),
                  std::to_string(spec.limits.requested_milli_cpu), limit(spec.limits.pod_pids)});
  put(text, spec.image);
  put(text, spec.boot_id);
  if (spec.security)
    put(text, *spec.security);
  else
    put(text, std::vector<std::string>{});
  put(text, fmt::format("{:d}{:d}{:d}", spec.open_stdin, spec.stdin_once, spec.tty));
  put(text, std::vector{std::to_string(spec.log.file_bytes), std::to_string(spec.log.files)});
  return replace("spec", text);
}

tl::expected<container_spec, std::string> container_dir::spec() const {
  const auto text = read("spec");
  if (!text) return tl::make_unexpected("there is no " + (path_ / "spec").string());
  reader in{*text};
  container_spec spec;
  spec.command = in.list();
  spec.environment = in.list();
  spec.working_dir = in.text();
  spec.log_file = in.text();
  const auto mounts = in.list();
  for (std::size_t i = 0; i + 3 < mounts.size(); i += 4)
    spec.mounts.push_back({mounts[i], mounts[i + 1], mounts[i + 2], mounts[i + 3].starts_with("ro"),
                           !mounts[i + 3].ends_with(",host")});
  const auto limits = in.list();
  if (!in.good() || limits.size() < 3)
    return tl::make_unexpected((path_ / "spec").string() + " is damaged");
  if (!limits[0].empty()) spec.limits.memory_bytes = std::atoll(limits[0].c_str());
  if (!limits[1].empty()) spec.limits.milli_cpu = std::atoll(limits[1].c_str());
  spec.limits.requested_milli_cpu = std::atoll(limits[2].c_str());
  if (limits.size() > 3 && !limits[3].empty()) spec.limits.pod_pids = std::atoll(limits[3].c_str());
  spec.image = in.text();
  spec.boot_id = in.text();
  // Older programs wrote none of the following fields, or only the first ones.
  const bool has_security = in.left();
  if (has_security) spec.security = read_security(in);
  auto streams = in.left() ? in.text() : std::string{};
  if (in.left())
    if (const auto log_values = in.list(); log_values.size() == 2)
      spec.log = {std::strtoull(log_values[0].c_str(), nullptr, 10),
                  std::atoi(log_values[1].c_str())};
  if (has_security && !in.good())
    return tl::make_unexpected((path_ / "spec").string() + " is damaged");
  streams.resize(3, '0');
  spec.open_stdin = streams[0] == '1';
  spec.stdin_once = streams[1] == '1';
  spec.tty = streams[2] == '1';
  return spec;
}

tl::expected<void, std::string> container_dir::write(const running_process& r) const {
  return replace("running", fmt::format("{} {} {} {} {}\n", r.shim.pid, r.shim.started,
                                        r.process.pid, r.process.started, r.since_ms));
}

std::optional<running_process> container_dir::running() const {
  const auto text = read("running");
  if (!text) return std::nullopt;
  std::istringstream in{*text};
  running_process r;
  in >> r.shim.pid >> r.shim.started >> r.process.pid >> r.process.started >> r.since_ms;
  return in ? std::optional{r} : std::nullopt;
}

tl::expected<void, std::string> container_dir::write(const container_exit& e) const {
  return replace("exit", fmt::format("{} {} {} {} {:d} {:d}\n{}", e.code, e.signal, e.started_ms,
                                     e.finished_ms, e.out_of_memory, e.lost, e.error));
}

std::optional<container_exit> container_dir::exit() const {
  const auto text = read("exit");
  if (!text) return std::nullopt;
  std::istringstream all{*text};
  std::string line;
  std::getline(all, line);
  std::istringstream in{line};
  container_exit e;
  in >> e.code >> e.signal >> e.started_ms >> e.finished_ms >> e.out_of_memory;
  if (!in) return std::nullopt;
  in >> e.lost;  // older programs did not write it
  std::getline(all, e.error, '\0');
  return e;
}

}  // namespace troupe::actors
