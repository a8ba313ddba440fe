// Maps rows of the table to members of the struct: the form of a value follows from the member's
// type, so that table and struct cannot disagree. Only for table.cpp and tests.
#pragma once

#include <array>
#include <type_traits>

#include "config/setting.hpp"

namespace troupe::config {

// The words of an enumeration, in the order of its values.
template <class Enum>
inline constexpr auto words_of = std::array<std::string_view, 0>{};
template <>
inline constexpr auto words_of<pod_runtime> =
    std::array<std::string_view, 4>{"auto", "process", "cri", "simulated"};
template <>
inline constexpr auto words_of<store_kind> = std::array<std::string_view, 2>{"embedded", "etcd"};
template <>
inline constexpr auto words_of<storage_release> =
    std::array<std::string_view, 14>{"1.20", "1.21", "1.22", "1.23", "1.24", "1.25", "1.26",
                                     "1.27", "1.28", "1.29", "1.30", "1.31", "1.32", "1.33"};
template <>
inline constexpr auto words_of<network_mode> =
    std::array<std::string_view, 4>{"none", "services", "pods", "auto"};
template <>
inline constexpr auto words_of<network_routes> =
    std::array<std::string_view, 3>{"auto", "direct", "vxlan"};
template <>
inline constexpr auto words_of<load_balancers> =
    std::array<std::string_view, 2>{"default", "class"};
template <>
inline constexpr auto words_of<scheduler_profile> =
    std::array<std::string_view, 2>{"today", "2014"};
template <>
inline constexpr auto words_of<log_level> =
    std::array<std::string_view, 5>{"trace", "debug", "info", "warning", "error"};
template <>
inline constexpr auto words_of<log_format> = std::array<std::string_view, 2>{"text", "json"};
template <>
inline constexpr auto words_of<observation> = std::array<std::string_view, 2>{"on", "off"};
template <>
inline constexpr auto words_of<own_scheduler> = std::array<std::string_view, 2>{"on", "off"};
template <>
inline constexpr auto words_of<anonymous_access> = std::array<std::string_view, 2>{"on", "off"};
template <>
inline constexpr auto words_of<removed_versions> = std::array<std::string_view, 2>{"off", "on"};

template <>
inline constexpr auto words_of<pod_security_level> =
    std::array<std::string_view, 3>{"privileged", "baseline", "restricted"};
template <>
inline constexpr auto words_of<legacy_token_secrets> = std::array<std::string_view, 2>{"off", "on"};

// Alternative spellings, e.g. spdlog's name of a level.
template <class Enum>
inline constexpr auto aliases_of = std::array<alias, 0>{};
template <>
inline constexpr auto aliases_of<log_level> = std::array<alias, 1>{{{"warn", "warning"}}};
template <>
inline constexpr auto aliases_of<own_scheduler> =
    std::array<alias, 2>{{{"true", "on"}, {"false", "off"}}};

template <class T>
constexpr form form_of() {
  if constexpr (std::is_enum_v<T>) return form::choice;
  if constexpr (std::is_same_v<T, std::int64_t>) return form::count;
  if constexpr (std::is_same_v<T, duration>) return form::duration;
  if constexpr (std::is_same_v<T, byte_size>) return form::size;
  if constexpr (std::is_same_v<T, address>) return form::address;
  if constexpr (std::is_same_v<T, ip_address>) return form::ip_address;
  if constexpr (std::is_same_v<T, std::string>) return form::dns_name;
  if constexpr (std::is_same_v<T, std::filesystem::path>) return form::path;
  if constexpr (std::is_same_v<T, names>) return form::names;
  if constexpr (std::is_same_v<T, weights>) return form::weights;
}

template <class T>
value to_value(const T& member) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(words_of<T>[static_cast<std::size_t>(member)]);
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return member.string();
  } else if constexpr (std::is_same_v<T, ip_address>) {
    return member.text;
  } else {
    return member;
  }
}

template <class T>
void from_value(T& member, const value& source) {
  if constexpr (std::is_enum_v<T>) {
    const auto& word = std::get<std::string>(source);
    for (std::size_t i = 0; i < words_of<T>.size(); ++i) {
      if (words_of<T>[i] == word) member = static_cast<T>(i);
    }
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    member = std::get<std::string>(source);
  } else if constexpr (std::is_same_v<T, ip_address>) {
    member.text = std::get<std::string>(source);
  } else {
    member = std::get<T>(source);
  }
}

// Access to the member at a path of members: at<&node_config::store, &store_config::history_time>.
template <auto... Path>
constexpr access at() {
  using member = std::remove_cvref_t<decltype((std::declval<node_config&>().*....*Path))>;
  access result{
      form_of<member>(),
      [](const node_config& from) { return to_value((from.*....*Path)); },
      [](node_config& to, const value& source) { from_value((to.*....*Path), source); },
  };
  if constexpr (std::is_enum_v<member>) {
    result.choices = words_of<member>;
    result.aliases = aliases_of<member>;
  }
  return result;
}

}  // namespace troupe::config
