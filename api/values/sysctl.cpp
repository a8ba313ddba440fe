#include "api/values/sysctl.hpp"

#include <algorithm>

namespace troupe::api {

std::string sysctl_with_dots(std::string name) {
  const auto first = name.find_first_of("./");
  if (first == name.npos || name[first] == '.') return name;
  for (auto& c : name)
    if (c == '/')
      c = '.';
    else if (c == '.')
      c = '/';
  return name;
}

sysctl_namespace namespace_of_sysctl(std::string_view name) {
  if (name.starts_with("net.")) return sysctl_namespace::net;
  constexpr std::array<std::string_view, 3> prefixes{"kernel.shm", "kernel.msg", "fs.mqueue."};
  const bool ipc = name == "kernel.sem" ||
                   std::any_of(prefixes.begin(), prefixes.end(),
                               [&](std::string_view prefix) { return name.starts_with(prefix); });
  return ipc ? sysctl_namespace::ipc : sysctl_namespace::none;
}

}  // namespace troupe::api
