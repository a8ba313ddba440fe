#include "tools/fuzz/entries.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::fuzz {

const std::vector<entry>& entries() {
  static const std::vector<entry> all = [] {
    std::vector<entry> made;
    add_documents(made);
    add_schemas(made);
    add_definitions(made);
    add_texts(made);
    add_transports(made);
    add_sessions(made);
    add_records(made);
    add_upstream_values(made);
    add_dns_messages(made);
    add_link_packets(made);
    add_link_frames(made);
    add_aggregation(made);
    return made;
  }();
  return all;
}

const entry* find_entry(std::string_view name) {
  for (const auto& each : entries())
    if (each.name == name) return &each;
  return nullptr;
}

namespace {

std::string_view current;

// Prints the bytes as a C++ string literal.
void print_current() {
  std::fputs("fuzz: bytes: \"", stderr);
  for (const char c : current) {
    if (c == '"' || c == '\\')
      std::fprintf(stderr, "\\%c", c);
    else if (c >= ' ' && c < '\x7f')
      std::fputc(c, stderr);
    else
      std::fprintf(stderr, "\\%03o", static_cast<unsigned char>(c));
  }
  std::fputs("\"\n", stderr);
}

}  // namespace

void run(const entry& target, std::string_view bytes) {
  current = bytes;
  target.run(bytes);
}

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: broken promise: %s\n", promise);
  print_current();
  std::abort();
}

}  // namespace troupe::fuzz
