#include "system/control_group.hpp"

#include <unistd.h>

#include <fstream>

#include "support/skip.hpp"

namespace fs = std::filesystem;

namespace troupe::test {

std::unique_ptr<control_group> control_group::make(const std::string& controller) {
  const auto v1 = fs::path{"/sys/fs/cgroup"} / controller, v2 = v1.parent_path();
  struct files {
    fs::path root;
    std::string limit, usage;
  };
  for (const auto& each :
       {files{v1, controller + ".max", controller + ".current"},
        files{v1, controller + ".limit_in_bytes", controller + ".usage_in_bytes"},
        files{v2, controller + ".max", controller + ".current"}}) {
    const auto path = each.root / ("troupe-limits-" + std::to_string(::getpid()));
    std::error_code problem;
    if (!fs::create_directory(path, problem)) continue;
    if (fs::exists(path / each.limit))
      return std::unique_ptr<control_group>{new control_group{path, each.limit, each.usage}};
    fs::remove(path, problem);
  }
  skip("no control group with " + controller + " can be made");
  return nullptr;
}

control_group::control_group(fs::path path, std::string limit_file, std::string usage_file)
    : path_{std::move(path)},
      limit_file_{std::move(limit_file)},
      usage_file_{std::move(usage_file)} {}

control_group::~control_group() {
  ::rmdir(path_.c_str());
}

void control_group::limit(const std::string& most) const {
  std::ofstream{path_ / limit_file_} << most;
}

std::int64_t control_group::current() const {
  std::int64_t count = 0;
  std::ifstream{path_ / usage_file_} >> count;
  return count;
}

std::vector<std::string> control_group::wrapper() const {
  return {"sh", "-c", "echo $$ > " + (path_ / "cgroup.procs").string() + "; exec \"$@\"", "sh"};
}

std::string control_group::prefix() const {
  return "sh -c 'echo $$ > " + (path_ / "cgroup.procs").string() + "; exec \"$@\"' sh ";
}

}  // namespace troupe::test
