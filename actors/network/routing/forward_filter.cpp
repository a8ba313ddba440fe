#include "actors/network/routing/forward_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "actors/kubelet/os/run_program.hpp"
#include "actors/network/defaults.hpp"
#include "actors/network/services/nft_process.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::actors::routing {
namespace {

using word_list = std::vector<std::string_view>;

// A quoted word keeps its quotes.
word_list words_of_line(std::string_view line) {
  word_list out;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) return out;
    const bool quoted = line.front() == '"';
    auto size = quoted ? line.find('"', 1) : line.find_first_of(" \t");
    if (quoted && size != line.npos) ++size;
    out.push_back(line.substr(0, size));
    line.remove_prefix(out.back().size());
  }
}

template <class F>
void each_line(std::string_view text, F visit) {
  while (!text.empty())
    visit(words_of_line(api::take_part(text, '\n')));
}

bool is_pod_device(std::string_view word) {
  const std::string_view names{network_defaults::pod_devices};
  return word.starts_with(fmt::format("\"{}", names.substr(0, names.size() - 1))) ||
         word == fmt::format("\"{}\"", network_defaults::tunnel_device);
}

bool contains_pods(std::string_view word, const api::cidr& pods) {
  const auto range = api::cidr::parse(word.substr(0, word.find(',')));
  return range && range->contains(pods);
}

struct forward_rule {
  bool names_pods = false, names_others = false, has_other_conditions = false;
  std::string_view verdict, target;  // "accept", "jump", "goto", or empty

  bool holds_for_pods() const { return !names_others && (names_pods || !has_other_conditions); }
};

forward_rule read_rule(const word_list& words, const api::cidr& pods) {
  forward_rule out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i];
    const auto next = i + 1 < words.size() ? words[i + 1] : std::string_view{};
    if (word == "accept" || word == "jump" || word == "goto") {
      out.verdict = word;
      out.target = next;
      return out;
    }
    if (word == "counter") continue;
    const bool device = word == "iifname" || word == "oifname";
    if (!device && !((word == "ip" || word == "ip6") && (next == "saddr" || next == "daddr"))) {
      out.has_other_conditions = true;
      continue;
    }
    i += device ? 1 : 2;
    const bool negated = i < words.size() && words[i] == "!=";
    if (negated) ++i;
    // One value, or several between braces.
    bool found = false;
    const bool several = i < words.size() && words[i] == "{";
    for (; i < words.size(); ++i) {
      found |= device ? is_pod_device(words[i]) : contains_pods(words[i], pods);
      if (!several || words[i] == "}") break;
    }
    out.names_pods |= found && !negated;
    out.names_others |= found == negated;
  }
  return out;
}

std::string_view header_of(const api::cidr& range) {
  return range.is_v6() ? "ip6" : "ip";
}

std::string problem_of_chain(const forward_chain& chain, const api::cidr& pods) {
  const auto command = [&](const char* side) {
    return fmt::format("nft insert rule {} {} {} {} {} {} accept", chain.family, chain.table,
                       chain.name, header_of(pods), side, pods.text());
  };
  return fmt::format(
      "the firewall drops packets of pods: the chain {} of table {} {} has the policy drop and "
      "does not accept {}; as root: {} && {}",
      chain.name, chain.family, chain.table, pods.text(), command("saddr"), command("daddr"));
}

}  // namespace

std::vector<forward_chain> dropping_chains(const std::string& chains) {
  std::vector<forward_chain> out;
  forward_chain at;
  each_line(chains, [&](const word_list& words) {
    const auto has = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (words.size() >= 4 && words[0] == "table") {
      at.family = words[1];
      at.table = words[2];
    } else if (words.size() >= 3 && words[0] == "chain") {
      at.name = words[1];
    } else if (has("hook") && has("forward") && has("drop;") && !at.table.starts_with("troupe") &&
               (at.family == "ip" || at.family == "ip6" || at.family == "inet")) {
      out.push_back(at);
    }
  });
  return out;
}

bool accepts_pods(const std::string& table, const std::string& chain, const api::cidr& pods) {
  std::map<std::string_view, std::vector<forward_rule>> chains;
  std::vector<forward_rule>* in = nullptr;
  each_line(table, [&](const word_list& words) {
    if (words.size() >= 3 && words[0] == "chain")
      in = &chains[words[1]];
    else if (words.size() == 1 && words[0] == "}")
      in = nullptr;
    else if (in != nullptr)
      in->push_back(read_rule(words, pods));
  });
  std::vector<std::string_view> reached{chain};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const auto& rule : chains[reached[i]]) {
      if (rule.verdict.empty() || !rule.holds_for_pods()) continue;
      if (rule.verdict == "accept") return true;
      if (std::find(reached.begin(), reached.end(), rule.target) == reached.end())
        reached.push_back(rule.target);
    }
  return false;
}

std::vector<std::string> find_dropping_chains(const std::vector<api::cidr>& own,
                                              const std::vector<api::cidr>& cluster) {
  const auto nft = services::find_nft();
  if (!nft) return {};
  // Without the values of counters.
  const auto list = [&](const std::string& command) {
    return output_of_program("nft", {*nft, "-s", "-f", "-"}, "list " + command + "\n",
                             network_defaults::nft_limit, network_defaults::rules_bytes)
        .value_or(std::string{});
  };
  auto dropping = dropping_chains(list("chains"));
  if (dropping.size() > network_defaults::most_dropping_chains)
    dropping.resize(network_defaults::most_dropping_chains);
  std::vector<std::string> problems;
  for (const auto& chain : dropping) {
    const auto table = list(fmt::format("table {} {}", chain.family, chain.table));
    for (const auto& range : own) {
      if (table.empty() || (chain.family != "inet" && chain.family != header_of(range))) continue;
      if (accepts_pods(table, chain.name, range)) continue;
      const auto all = std::find_if(cluster.begin(), cluster.end(),
                                    [&](const api::cidr& each) { return each.contains(range); });
      problems.push_back(problem_of_chain(chain, all == cluster.end() ? range : *all));
    }
  }
  return problems;
}

}  // namespace troupe::actors::routing
