// Service: what the gateway asks of the platform. Nothing here waits: answers come by callback, once, from any thread,
// and readers get immutable snapshots. The one implementation is Platform (platform.h); tests bring a fake.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/money.h"
#include "base/result.h"
#include "base/time.h"
#include "bus/door.h"
#include "data/object_store.h"
#include "domain/application.h"
#include "domain/commands.h"
#include "domain/principal.h"
#include "live/budgets.h"
#include "live/snapshot.h"

namespace sluice::live {

using SharedInputs = std::shared_ptr<const data::Tensors>;

// One request as it comes in. Inputs have the names of the application's inputs and no batch dimension.
struct Call {
  Principal principal{};  // whose application it is, and whose request
  std::string application;
  std::shared_ptr<const Target> target;  // of a model in a snapshot; null: found by name
  SharedInputs inputs;
  std::optional<Duration> objective;  // instead of the application's
  std::optional<Duration> timeout;    // after that it is given up, whatever the objective
  std::uint8_t priority = 0;
  std::string caller_id;  // echoed
  Held held{};            // its part of the tenant's quota, until it is answered; set by enter()
};

using AnswerKind = bus::Answered::Kind;

struct Answer {
  RequestId request;
  AnswerKind kind = AnswerKind::finished;
  data::Tensors outputs;  // named as the application names them
  // rejected
  RejectReason reason = RejectReason::queue_full;
  double needed = 0, available = 0;
  std::optional<Duration> retry_after;
  // failed, deadline_exceeded
  std::string stage, error;
  Duration latency, slack;  // slack below zero: late
  Dollars cost = 0;
  std::uint32_t version = 0;  // of the application that served it
};
using OnAnswer = std::function<void(Answer)>;
using OnRow = std::function<void(std::size_t row, Answer answer)>;

// A document with the files it names, as `sluice deploy` sends them.
struct Deployment {
  Principal principal{};  // whose it becomes; the document of an admin may name another tenant
  struct File {
    std::string path;  // relative, inside of the deployment
    std::string content;
  };
  std::string main;  // the path of the document
  std::vector<File> files;
  bool dry_run = false;
  std::optional<double> canary;  // in (0, 1): it gets this share of the calls, the version before goes on with the rest
};
// Which version of an application serves.
struct VersionChange {
  enum class Kind : std::uint8_t { promote, rollback } kind = Kind::promote;
  std::string application;
  // rollback; absent: the canary goes, or where there is none the version before comes back.
  std::optional<std::uint32_t> version;
};
struct Deployed {
  std::string application;
  std::uint32_t version = 0;
  std::vector<std::string> messages;  // what a user should know: warnings, what is being profiled, the plan
  bool fits = true;                   // dry run: whether the objective can be met here
  std::optional<double> canary;       // the share of the calls that it gets
  std::optional<OverQuota> over;      // not deployed: the tenant would have too much
};
using OnDeployed = std::function<void(Result<Deployed>)>;

class Service {
 public:
  virtual ~Service() = default;

  // Where inputs of a call of this tenant's applications should be; elsewhere they are copied. Null while there is no
  // room for any.
  [[nodiscard]] virtual std::shared_ptr<data::Arena> arena(const std::string& tenant) = 0;
  // Holds the call against the quota of its tenant, as one of each of its rows; the refusal where that is used up.
  // Before call(), call_rows() and call_later().
  [[nodiscard]] virtual std::optional<Answer> enter(Call& call, std::uint32_t rows) = 0;
  // The request's id. `answer` is called once, unless the platform stops.
  virtual RequestId call(Call call, OnAnswer answer) = 0;
  // As call(), of one request for each of `rows`, which are its inputs instead of the call's own. All arrive at the
  // same instant, so that they may be batched together; if there is no room for all, all are refused. The id of row 0;
  // those of the other rows follow one by one. `answer` is called once for each row, maybe before this returns.
  virtual RequestId call_rows(Call call, std::vector<SharedInputs> rows, OnRow answer) = 0;
  // As call, but kept on disk first: `accepted` says when it is (or why not), and the answer can be fetched later by
  // find_request(), after a crash as well.
  virtual void call_later(Call call, std::function<void(Result<RequestId>)> accepted) = 0;
  // Nothing happens where the principal does not see the request.
  virtual void cancel(const Principal& principal, RequestId request) = 0;

  virtual void deploy(Deployment deployment, OnDeployed done) = 0;
  virtual void remove(Principal principal, std::string application, std::function<void(Status)> done) = 0;
  virtual void change_version(Principal principal, VersionChange change, OnDeployed done) = 0;

  // As of a moment ago, of all tenants.
  [[nodiscard]] virtual std::shared_ptr<const Snapshot> snapshot() const = 0;
  // Those that the principal sees, the newest first.
  [[nodiscard]] virtual std::vector<RequestRecord> requests(const Principal& principal, RequestQuery query) const = 0;
  // Nothing: there is none, or the principal does not see it.
  [[nodiscard]] virtual std::optional<RequestRecord> find_request(const Principal& principal,
                                                                  RequestId request) const = 0;
  // The outputs of a request that was called for later and has finished; null: not (any more) there.
  [[nodiscard]] virtual std::shared_ptr<const data::Tensors> outputs_of(const Principal& principal,
                                                                        RequestId request) const = 0;
};

}  // namespace sluice::live
