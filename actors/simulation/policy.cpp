#include "actors/simulation/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "actors/core/settings_file.hpp"
#include "actors/simulation/defaults.hpp"
#include "actors/simulation/settings.hpp"
#include "api/files/simulation_policy.pb.h"
#include "api/values/duration.hpp"

namespace troupe::actors::simulated {

namespace {

namespace file = api::files::simulation;

// The subject and phase of an effect.
struct effect_row {
  std::string_view name;
  decision decides;
  subject of;
  std::string_view phase;
  std::string_view time;  // the annotation of its delay; empty if it has none
};

constexpr effect_row effects[] = {
    {"start", decision::start, subject::pod, "Pending", "start-delay"},
    {"ready", decision::ready, subject::pod, "Running", "ready-delay"},
    {"complete", decision::end, subject::pod, "Running", "run-time"},
    {"fail", decision::end, subject::pod, "Running", "run-time"},
    {"crash", decision::end, subject::pod, "Running", "run-time"},
    {"use", decision::use, subject::pod, "Running", ""},
    {"goDown", decision::go_down, subject::node, "Ready", "fail-after"},
    {"comeBack", decision::come_back, subject::node, "NotReady", "return-after"},
};

const effect_row* effect_of(const file::StageEffect& next) {
  const std::pair<bool, std::string_view> all[] = {
      {next.has_start(), "start"},       {next.has_ready(), "ready"},
      {next.has_complete(), "complete"}, {next.has_fail(), "fail"},
      {next.has_crash(), "crash"},       {next.has_use(), "use"},
      {next.has_go_down(), "goDown"},    {next.has_come_back(), "comeBack"}};
  for (const auto& [has, name] : all)
    if (has)
      return std::find_if(std::begin(effects), std::end(effects),
                          [name = name](const auto& each) { return each.name == name; });
  return nullptr;
}

// Reads one stage; `path` is its location.
class stage_reader {
 public:
  stage_reader(const file::Stage& from, std::string path, problems& found)
      : from_{from}, path_{std::move(path)}, found_{found} {}

  stage read() {
    const auto* effect = effect_of(from_.next());
    if (effect == nullptr) {
      complain("next", "must be one of start, ready, complete, fail, crash, use, goDown, comeBack");
      return std::move(made_);
    }
    made_.name = from_.name();
    made_.of = effect->of;
    made_.decides = effect->decides;
    read_selector(*effect);
    read_time(*effect);
    read_effect();
    return std::move(made_);
  }

 private:
  void complain(std::string_view field, std::string_view text) {
    found_.push_back(fmt::format("{}.{}: {}", path_, field, text));
  }

  void read_selector(const effect_row& effect) {
    const auto& selector = from_.selector();
    const std::string_view kind = effect.of == subject::pod ? "Pod" : "Node";
    if (selector.kind() != kind)
      complain("selector.kind", fmt::format("must be {}: {} happens to it", kind, effect.name));
    if (!selector.phase().empty() && selector.phase() != effect.phase)
      complain("selector.phase",
               fmt::format("must be {}: {} happens in it", effect.phase, effect.name));
    if (effect.of == subject::node && selector.namespaces_size() > 0)
      complain("selector.namespaces", "nodes have no namespace");
    made_.namespaces.assign(selector.namespaces().begin(), selector.namespaces().end());
    for (const auto& [name, value] : selector.match_annotations())
      made_.annotations.emplace_back(name, value);
    api::meta::v1::LabelSelector labels;
    *labels.mutable_match_labels() = selector.match_labels();
    *labels.mutable_match_expressions() = selector.match_expressions();
    if (auto compiled = api::label_selector::from(labels))
      made_.labels = std::move(*compiled);
    else
      complain("selector", compiled.error().message);
    if (!selector.has_share()) return;
    made_.share = selector.share();
    if (!(made_.share >= 0 && made_.share <= 1)) complain("selector.share", "must be from 0 to 1");
  }

  void read_time(const effect_row& effect) {
    if (effect.time.empty() && (!from_.delay().empty() || from_.has_jitter()))
      complain("delay",
               fmt::format("{} has none: write 0s=1,10m=4 for a use over time", effect.name));
    const auto text = from_.delay().empty() ? std::string{"0s"} : from_.delay();
    const auto time = api::parse_duration(text);
    if (!time || *time < 0)
      complain("delay", fmt::format("\"{}\" is not a time such as 500ms or 1m30s", text));
    if (!effect.time.empty()) made_.values.emplace(effect.time, text);
    made_.jitter = from_.jitter();
    if (!(made_.jitter >= 0 && made_.jitter <= simulation_defaults::most_jitter))
      complain("jitter", fmt::format("must be from 0 to {}", simulation_defaults::most_jitter));
  }

  void read_effect() {
    const auto& next = from_.next();
    const auto end = [&](std::int32_t exit_code, const std::string& message) {
      made_.values.emplace("exit-code", std::to_string(exit_code));
      if (!message.empty()) made_.values.emplace("termination-message", message);
    };
    if (next.has_fail()) end(next.fail().exit_code(), next.fail().message());
    if (next.has_crash()) {
      end(next.crash().exit_code(), next.crash().message());
      made_.values.emplace("failures", std::to_string(next.crash().times()));
    }
    if (!next.has_use()) return;
    for (const auto& [name, text] :
         {std::pair{"cpu", next.use().cpu()}, std::pair{"memory", next.use().memory()}}) {
      if (text.empty()) continue;
      if (!amount_over_time::parse(text))
        complain(fmt::format("next.use.{}", name),
                 fmt::format("\"{}\" is not an amount such as 250m or 0s=1,10m=4", text));
      made_.values.emplace(name, text);
    }
    if (next.use().cpu().empty() && next.use().memory().empty())
      complain("next.use", "must contain cpu, memory or both");
  }

  const file::Stage& from_;
  const std::string path_;
  problems& found_;
  stage made_;
};

}  // namespace

bool stage::fits(subject kind, const api::meta::v1::ObjectMeta& object) const {
  if (kind != of) return false;
  if (!namespaces.empty() &&
      std::find(namespaces.begin(), namespaces.end(), object.namespace_()) == namespaces.end())
    return false;
  for (const auto& [key, value] : annotations) {
    const auto found = object.annotations().find(key);
    if (found == object.annotations().end() || found->second != value) return false;
  }
  return labels.matches(object.labels()) && (share >= 1 || share_of(object, name, 0) < share);
}

tl::expected<policy_ptr, std::vector<std::string>> policy::parse(std::string_view yaml) {
  file::SimulationPolicy from;
  auto found = read_settings(yaml, {"simulation.troupe.dev/v1alpha1", "SimulationPolicy"}, from);
  if (found.empty() && from.stages_size() > simulation_defaults::most_stages)
    found.push_back(
        fmt::format("stages: there may be {} at most", simulation_defaults::most_stages));
  if (!found.empty()) return tl::make_unexpected(std::move(found));
  auto made = std::make_shared<policy>();
  std::set<std::string> names;
  for (int i = 0; i < from.stages_size(); ++i) {
    const auto path = fmt::format("stages[{}]", i);
    if (!names.insert(from.stages(i).name()).second)
      found.push_back(fmt::format("{}.name: another stage has it already", path));
    made->stages_.push_back(stage_reader{from.stages(i), path, found}.read());
  }
  if (!found.empty()) return tl::make_unexpected(std::move(found));
  return made;
}

std::vector<const stage*> policy::stages_of(subject kind,
                                            const api::meta::v1::ObjectMeta& object) const {
  std::vector<const stage*> result;
  for (const auto& each : stages_)
    if (each.fits(kind, object) && std::none_of(result.begin(), result.end(), [&](const auto* one) {
          return one->decides == each.decides;
        }))
      result.push_back(&each);
  return result;
}

}  // namespace troupe::actors::simulated
