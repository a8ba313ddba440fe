// The rules of one version of a CustomResourceDefinition. The schema is compiled at its first use:
// most kinds of a cluster have no objects.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/custom/json_path.hpp"
#include "api/object/object.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/schema/custom.pb.h"
#include "api/tables/table.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {

class custom_version final : public version_rules {
 public:
  // `definition` is a CustomResourceDefinition, `index` that of the version in it.
  custom_version(object_ptr definition, int index, std::uint64_t since);
  ~custom_version() override;

  bool terminating() const noexcept override { return terminating_; }
  bool has_unchecked_rules() const noexcept override { return unchecked_rules_; }
  const std::string& warning() const noexcept override { return warning_; }
  std::uint64_t since() const noexcept override { return since_; }
  const structural_schema* schema() const override;
  std::string published_schema(document in) const override;

  expected<std::vector<std::string>> complete(CustomBody& content,
                                              field_validation fields) const override;
  void complete_stored(CustomBody& content) const override;
  void check(field_errors& out, const CustomBody& now, const CustomBody* was,
             part of) const override;

  std::span<const table_column> columns() const noexcept override { return columns_; }
  void append_cells(std::string& out, const object& item, std::int64_t now_seconds) const override;
  std::string field(const CustomBody& content, std::string_view path) const override;

  std::vector<std::string> replicas_path() const override;
  expected<replicas> scale(const CustomBody& content) const override;
  expected<void> set_replicas(CustomBody& content, std::int32_t wanted) const override;

 private:
  struct scale_paths {
    json_path wanted, actual;
    std::optional<json_path> selector;
  };

  const apiextensions::v1::CustomResourceDefinition& whole() const;
  const std::string& schema_text() const;
  void read_columns();
  void read_scale();

  const object_ptr definition_;
  const apiextensions::v1::CustomResourceDefinitionVersion& said_;
  const std::string open_schema_;  // only if the definition preserves unknown fields
  const std::uint64_t since_;
  const bool terminating_;
  const bool unchecked_rules_;
  const std::string warning_;
  std::optional<scale_paths> scale_;
  std::vector<std::string> descriptions_;                     // of columns_
  std::vector<table_column> columns_;                         // the first one is the name
  std::vector<json_path> cells_;                              // of the columns after the name
  std::map<std::string, json_path, std::less<>> selectable_;  // by name, without the first dot

  mutable std::once_flag compiled_;
  mutable std::shared_ptr<const structural_schema> schema_;
};

// "stable.example.com/v1beta1 CronTab is deprecated; use stable.example.com/v1 CronTab".
std::string deprecation_of(const apiextensions::v1::CustomResourceDefinition& definition,
                           int index);

}  // namespace troupe::api
