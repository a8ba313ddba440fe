#include "persistence/engine/rocks_rescue.hpp"

#include <rocksdb/db.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "persistence/engine/old_logs.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/engine/rocks_log.hpp"
#include "persistence/engine/rocks_options.hpp"

namespace troupe::persistence {

namespace {

namespace fs = std::filesystem;

// Larger than any file number of a new database.
constexpr std::uint64_t later_number = 1'000'000;

void point_current(const std::string& directory) {
  std::string name;
  std::getline(std::ifstream{directory + "/CURRENT"}, name);
  if (!name.empty() && fs::exists(directory + "/" + name)) return;
  std::string newest;
  for (const auto& each : fs::directory_iterator{directory})
    if (const auto file = each.path().filename().string(); file.starts_with("MANIFEST-"))
      newest = std::max(newest, file);
  if (!newest.empty()) std::ofstream{directory + "/CURRENT"} << newest << "\n";
}

}  // namespace

void prepare_rescue(const std::string& copy, const std::string& logs) {
  point_current(copy);
  rocks_engine_in(logs)(open_mode::strict);
  std::error_code bad;
  for (const auto& each : find_old_logs(copy, 0, later_number))
    fs::copy_file(fmt::format("{}/{:06}.log", copy, each.number),
                  fmt::format("{}/{:06}.log", logs, later_number + each.number), bad);
}

void rebuild_manifest(const std::string& copy) {
  const auto sizes = sizes_within(UINT64_MAX, UINT64_MAX);
  auto options = database_options(open_mode::rescue, sizes);
  options.info_log = make_rocks_log();
  std::vector<rocksdb::ColumnFamilyDescriptor> tables;
  for (const auto each : {table::meta, table::objects, table::changes, table::bases})
    tables.emplace_back(table_name(each), table_options(each, sizes));
  rocksdb::RepairDB(copy, options, tables).PermitUncheckedError();
}

}  // namespace troupe::persistence
