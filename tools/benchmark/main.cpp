// Measures the rooms, the store and a whole node, and prints one table (or JSON).
//
// Everything runs on this machine and shares its cores with the measured program: read the ratios.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "benchmark/rows.hpp"

int main(int argc, char** argv) {
  using namespace troupe::bench;
  using measure = void (*)(results&, const bench_options&);
  const std::vector<std::pair<std::string, measure>> parts = {{"rooms", measure_rooms},
                                                              {"store", measure_store},
                                                              {"start", measure_start},
                                                              {"http", measure_http},
                                                              {"custom", measure_custom},
                                                              {"watch", measure_watch},
                                                              {"pods", measure_pods},
                                                              {"nodes-idle", measure_idle_nodes},
                                                              {"pods-100k", measure_many_pods},
                                                              {"console", measure_console},
                                                              {"limits", measure_limits},
                                                              {"endpoints", measure_endpoints},
                                                              {"claims", measure_claims},
                                                              {"network", measure_network},
                                                              {"containers", measure_containers},
                                                              {"streams", measure_streams},
                                                              {"etcd", measure_etcd},
                                                              {"planes", measure_planes},
                                                              {"kube", measure_kube}};

  CLI::App app{"Measures Troupe on this machine and prints one table.", "tools/bench"};
  bench_options options;
  bool json = false;
  std::vector<std::string> only;
  app.add_option("program", options.program, "The troupe program")->required();
  app.add_flag("--json", json, "An array of objects instead of a table");
  std::vector<std::string> names;
  for (const auto& [name, part] : parts)
    names.push_back(name);
  app.add_option("--only", only, "Measure these parts alone")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  CLI11_PARSE(app, argc, argv);

  spdlog::set_level(spdlog::level::off);  // standard output is for the table
  results out;
  const auto wanted = [&](const std::string& name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  try {
    for (const auto& [name, part] : parts)
      if (wanted(name)) part(out, options);
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "tools/bench: %s\n", failed.what());
    return 1;
  }
  const auto text = json ? out.json() : out.markdown();
  std::fwrite(text.data(), 1, text.size(), stdout);
}
