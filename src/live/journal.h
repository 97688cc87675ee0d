// Journal: asynchronous requests from their acceptance to their answer. A request is on disk before it is accepted, its
// answer takes its place there, and what a server that ended left unanswered begins again. Used by Platform.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "live/runner.h"
#include "live/service.h"
#include "store/reader.h"
#include "store/writer.h"

namespace sluice::live {

class Journal {
 public:
  // What an earlier server accepted and did not answer.
  struct Unfinished {
    store::Request request;
    std::string inputs;
  };
  [[nodiscard]] static Result<std::vector<Unfinished>> unfinished_in(store::Store& store);

  // All must outlive the journal; `runner` is where requests are let in.
  Journal(store::Writer& writer, store::Reader& reader, std::shared_ptr<data::Arena> arena, Mailbox<Letter>& runner)
      : writer_(writer), reader_(reader), arena_(std::move(arena)), runner_(runner) {}

  // `accepted` is called when the request is on disk, or with why it is not. REQUIRES: the call has its objective.
  void accept(RequestId id, const Call& call, std::function<void(Result<RequestId>)> accepted);
  void begin_again(const std::vector<Unfinished>& unfinished);

  // What is on disk, from any thread.
  [[nodiscard]] std::vector<RequestRecord> list(const RequestQuery& query) const;  // newest first
  [[nodiscard]] std::optional<RequestRecord> find(RequestId request) const;
  [[nodiscard]] std::shared_ptr<const data::Tensors> outputs_of(RequestId request) const;

 private:
  void let_in(RequestId id, Call call);
  void finish(RequestId id, const Answer& answer);
  void write_answer(RequestId id, store::Answer answer, std::string outputs);

  store::Writer& writer_;
  store::Reader& reader_;
  std::shared_ptr<data::Arena> arena_;
  Mailbox<Letter>& runner_;
  std::mutex unwritten_mutex_;
  std::vector<std::function<void()>> unwritten_;  // answers that did not get onto the writer's queue; guarded
};

}  // namespace sluice::live
