// A real process writes under load, while its history is compacted, and is killed at random times.
// Everything that it had acknowledged must exist when the next process opens the store.
//
// TROUPE_CRASH_ROUNDS sets the number of kills (20 unless set).
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

constexpr int keys = 40;
constexpr int in_flight = 64;
constexpr const char* directory_variable = "TROUPE_CRASH_DIRECTORY";

store_options crash_options(const std::string& directory) {
  auto options = in_directory(directory + "/store");
  options.history_revisions = 300;
  options.history_time = std::chrono::seconds{0};
  return options;
}

// Appends one line for each response before anything else: "key counter revision".
void note(int file, const std::string& name, std::uint64_t counter, revision at) {
  const auto line = fmt::format("{} {} {}\n", name, counter, at);
  if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(3);
}

// Started as a separate process by the test below.
TEST_CASE("the process that is killed", "[.child]") {
  const char* directory = ::getenv(directory_variable);
  REQUIRE(directory != nullptr);
  spdlog::set_level(spdlog::level::warn);
  const auto store = open(crash_options(directory));
  const int answers =
      ::open((std::string{directory} + "/answers").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  REQUIRE(answers >= 0);
  std::mt19937_64 random{std::random_device{}()};
  std::atomic<int> waiting{0};
  // Counters continue where the store of the last process ended.
  std::uint64_t counter = store->read().at() * 1'000;
  for (;;) {
    while (waiting >= in_flight)
      std::this_thread::yield();
    const auto name = std::to_string(random() % keys);
    const auto value = ++counter;
    const auto dice = random() % 10;
    auto request = dice == 0   ? remove(name)
                   : dice == 1 ? put_lease("l" + name, std::to_string(value))
                               : put(name, std::to_string(value), random() % 3'000);
    const std::string noted = dice == 1 ? "l" + name : name;
    ++waiting;
    store->submit(just(std::move(request)), [&, noted, value, dice](const outcome& result) {
      if (!result) ::_exit(4);
      if (result->objects[0] != nullptr) note(answers, noted, dice == 0 ? 0 : value, result->at);
      --waiting;
    });
  }
}

struct answer {
  std::uint64_t counter = 0;  // 0: removed
  revision at = 0;
};

struct answers {
  std::map<std::string, answer> newest;
  revision last = 0;
  std::size_t count = 0;
  bool ordered = true;
};

answers read_answers(const std::string& directory) {
  answers found;
  std::ifstream file{directory + "/answers"};
  std::string line;
  while (std::getline(file, line) && !file.eof()) {
    std::istringstream words{line};
    std::string name;
    answer a;
    words >> name >> a.counter >> a.at;
    found.ordered = found.ordered && a.at > found.last;
    found.last = a.at;
    found.newest[name] = a;
    ++found.count;
  }
  return found;
}

pid_t start_child(const std::string& directory) {
  ::setenv(directory_variable, directory.c_str(), 1);
  std::string program = "/proc/self/exe", name = "the process that is killed";
  char* arguments[] = {program.data(), name.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  REQUIRE(::posix_spawn(&child, program.c_str(), &quiet, nullptr, arguments, environ) == 0);
  ::posix_spawn_file_actions_destroy(&quiet);
  return child;
}

// Kills a child at a random time while it writes, and not before the file has `least` responses.
void write_and_kill(const std::string& directory, std::mt19937_64& random, std::size_t least) {
  const auto size = [&] {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(directory + "/answers", none);
    return none ? 0 : bytes;
  };
  const auto before = size();
  const pid_t child = start_child(directory);
  const bool writes =
      eventually([&] { return size() > before && read_answers(directory).count >= least; });
  const auto enough = size() + random() % 60'000;
  eventually([&] { return size() > enough; }, std::chrono::milliseconds{random() % 300});
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(writes);
  REQUIRE(WIFSIGNALED(status));  // it did not end by itself
}

void check_answers(const answers& said, const snapshot& state) {
  CHECK(said.ordered);
  CHECK(state.at() >= said.last);
  for (const auto& [name, a] : said.newest) {
    const auto found = state.find(name[0] == 'l' ? lease_key(name) : key_of(name));
    INFO(name << " was answered " << a.counter << " at revision " << a.at);
    if (found == nullptr) {
      // Deleted: by this transaction, or by a later one without a response.
      CHECK((a.counter == 0 || state.at() > a.at));
      continue;
    }
    CHECK(found->revision() >= a.at);
    if (name[0] == 'l') continue;
    const auto counter = std::stoull(value_of(found));
    CHECK((found->revision() == a.at ? counter == a.counter : counter > a.counter));
  }
}

TEST_CASE("killed at any instant, the store has every acknowledged write when it is opened again") {
  const char* wanted = ::getenv("TROUPE_CRASH_ROUNDS");
  const int rounds = wanted == nullptr ? 20 : std::atoi(wanted);
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  scratch_directory place;
  std::filesystem::create_directories(place.path(""));
  // Too little load would prove nothing.
  constexpr std::size_t answers_per_round = 50;
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    write_and_kill(place.path(""), random, static_cast<std::size_t>(round + 1) * answers_per_round);
    const auto said = read_answers(place.path(""));
    REQUIRE(problems_in(place.path()) == std::vector<std::string>{});
    const auto store = open(crash_options(place.path("")));
    check_answers(said, store->read());
  }
}

}  // namespace
}  // namespace troupe::persistence::testing
