#include "server/frontend/health.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <exception>
#include <set>

#include "api/codec/json_text.hpp"

namespace troupe::server {
namespace {

constexpr std::array<std::string_view, 3> endpoints{"healthz", "livez", "readyz"};

response plain(int status, std::string text) {
  response answer;
  answer.status = status;
  answer.content_type = "text/plain; charset=utf-8";
  answer.fields.push_back({"x-content-type-options", "nosniff"});
  answer.content.add(std::move(text));
  return answer;
}

// Splits "/livez/ping" into {"livez", "ping"}; the second is absent in "/livez".
std::pair<std::string_view, std::optional<std::string_view>> split(std::string_view path) {
  path.remove_prefix(1);
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return {path, std::nullopt};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::optional<std::string> problem_of(const std::string& name, const health_checks::check& call) {
  std::optional<std::string> problem;
  try {
    problem = call();
  } catch (const std::exception& e) {
    problem = e.what();
  }
  if (problem) spdlog::warn("server: health check {} fails: {}", name, *problem);
  return problem;
}

}  // namespace

void health_checks::add(std::string name, kind kind, check call) {
  const std::lock_guard lock{mutex_};
  std::erase_if(checks_, [&](const named& known) { return known.name == name; });
  checks_.push_back({std::move(name), kind, std::move(call)});
}

bool health_checks::serves(std::string_view path) {
  return path.starts_with('/') &&
         std::find(endpoints.begin(), endpoints.end(), split(path).first) != endpoints.end();
}

std::vector<health_checks::named> health_checks::all() const {
  constexpr auto passes = [] { return std::nullopt; };
  std::vector<named> found{{"ping", kind::live, passes}, {"log", kind::live, passes}};
  const std::lock_guard lock{mutex_};
  found.insert(found.end(), checks_.begin(), checks_.end());
  return found;
}

response health_checks::serve(const request& request) const {
  const auto [endpoint, one] = split(request.path);
  auto checks = all();
  if (one) {
    const auto known = std::find_if(checks.begin(), checks.end(),
                                    [name = *one](const named& each) { return each.name == name; });
    if (known == checks.end()) return plain(404, "404 page not found\n");
    if (const auto problem = problem_of(known->name, known->call))
      return plain(500, "internal server error: " + *problem + "\n");
    return plain(200, "ok");
  }
  if (endpoint == "livez")
    std::erase_if(checks, [](const named& each) { return each.applies_to == kind::ready; });
  const auto listed = request.query.all("exclude");
  std::set<std::string> excluded(listed.begin(), listed.end());

  std::string text;
  bool good = true;
  for (const auto& known : checks) {
    if (excluded.erase(known.name) > 0) {
      text += "[+]" + known.name + " excluded: ok\n";
    } else if (!problem_of(known.name, known.call)) {
      text += "[+]" + known.name + " ok\n";
    } else {
      text += "[-]" + known.name + " failed: reason withheld\n";
      good = false;
    }
  }
  std::string unknown;
  for (const auto& name : excluded)
    unknown += (unknown.empty() ? "" : ",") + api::quoted(name);
  if (!unknown.empty())
    text += "warn: some health checks cannot be excluded: no matches for " + unknown + "\n";
  if (!good) return plain(500, text + std::string(endpoint) + " check failed\n");
  if (!request.query.has("verbose")) return plain(200, "ok");
  return plain(200, text + std::string(endpoint) + " check passed\n");
}

}  // namespace troupe::server
