// What the store keeps, as plain data. Filled and read by live/.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/money.h"
#include "base/time.h"
#include "domain/ids.h"
#include "domain/quota.h"

namespace sluice::store {

struct File {
  std::string path;  // relative, inside of the deployment
  std::string content;
  friend bool operator==(const File&, const File&) = default;
};

struct Tenant {
  std::string name;
  TenantId id;  // never used again
  Quota quota;
  friend bool operator==(const Tenant&, const Tenant&) = default;
};

// Written to disk as numbers.
enum class VersionRole : std::uint8_t { kept, serving, canary };

// A document as it was deployed, with the files it names.
struct DeployedApplication {
  std::string tenant = "default", name;
  std::uint32_t version = 0;
  VersionRole role = VersionRole::serving;
  std::optional<double> share;  // of the calls, of a canary
  Time deployed_at;
  std::string main;  // the path of the document
  std::vector<File> files;
  std::vector<std::uint32_t> versions;  // that are kept of the application, ascending; not looked at where one is put
  friend bool operator==(const DeployedApplication&, const DeployedApplication&) = default;
};

// Written to disk as numbers: values are added at the end only.
enum class State : std::uint8_t { running, met, late, rejected, failed, cancelled };
constexpr State last_of(State) {
  return State::cancelled;
}

// An asynchronous request as it was accepted.
struct Request {
  RequestId id;
  std::string tenant = "default", application;
  Time arrival;
  Duration objective;
  std::optional<Duration> timeout;  // after that it is given up, whatever the objective
  std::uint8_t priority = 0;
  std::string caller_id;  // echoed with the answer
  friend bool operator==(const Request&, const Request&) = default;
};

struct Answer {
  State state = State::running;
  Time finished;
  Dollars cost = 0;
  std::string stage, error;   // where and why it failed
  std::uint32_t version = 0;  // of the application that served it; 0: none did, or it was not kept yet
  friend bool operator==(const Answer&, const Answer&) = default;
};

struct RequestRecord {
  Request request;
  Answer answer;  // state running: none yet
  friend bool operator==(const RequestRecord&, const RequestRecord&) = default;
};

struct RequestQuery {
  std::string tenant, application;  // empty: all
  std::optional<State> state;
  std::size_t limit = 30;
};

}  // namespace sluice::store
