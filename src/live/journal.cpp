#include "live/journal.h"

#include "data/clock.h"
#include "store/tensor_blob.h"

namespace sluice::live {
namespace {

store::State stored(RequestState state) {
  return static_cast<store::State>(state);
}

RequestState state_of(const Answer& answer) {
  switch (answer.kind) {
    case AnswerKind::finished:
      return answer.slack >= Duration{} ? RequestState::met : RequestState::late;
    case AnswerKind::rejected:
      return RequestState::rejected;
    case AnswerKind::cancelled:
      return RequestState::cancelled;
    case AnswerKind::failed:
    case AnswerKind::deadline_exceeded:
      return RequestState::failed;
  }
  return RequestState::failed;
}

RequestRecord record_of(const store::RequestRecord& kept) {
  return {.id = kept.request.id,
          .application = kept.request.application,
          .caller_id = kept.request.caller_id,
          .version = kept.answer.version,
          .arrival = kept.request.arrival,
          .deadline = kept.request.arrival + kept.request.objective,
          .finished = kept.answer.finished,
          .state = static_cast<RequestState>(kept.answer.state),
          .asynchronous = true,
          .cost = kept.answer.cost,
          .stage = kept.answer.stage,
          .error = kept.answer.error};
}

}  // namespace

Result<std::vector<Journal::Unfinished>> Journal::unfinished_in(store::Store& store) {
  auto requests = store.unfinished_requests();
  if (!requests) return requests.error();
  std::vector<Unfinished> out;
  for (store::Request& request : *requests) {
    auto inputs = store.inputs_of(request.id);
    if (!inputs) return inputs.error();
    out.push_back({std::move(request), inputs->value_or("")});
  }
  return out;
}

void Journal::accept(RequestId id, const Call& call, std::function<void(Result<RequestId>)> accepted) {
  store::Request request{.id = id,
                         .application = call.application,
                         .arrival = data::now(),
                         .objective = call.objective.value(),
                         .timeout = call.timeout,
                         .priority = call.priority,
                         .caller_id = call.caller_id};
  auto inputs = std::make_shared<std::string>(store::to_blob(*call.inputs));
  writer_.post([request = std::move(request), inputs](store::Store& s) { return s.put_request(request, *inputs); },
               [this, id, call, accepted = std::move(accepted)](const Status& status) {
                 if (!status) return accepted(status.error());
                 accepted(id);
                 let_in(id, call);
               });
}

void Journal::begin_again(const std::vector<Unfinished>& unfinished) {
  for (const auto& [request, inputs] : unfinished) {
    auto tensors = store::from_blob(inputs, *arena_);
    if (!tensors) {
      write_answer(request.id,
                   {.state = store::State::failed, .finished = data::now(), .error = tensors.error().message}, "");
      continue;
    }
    // With its whole objective again: the time while nobody served is not held against it.
    let_in(request.id, {.application = request.application,
                        .inputs = std::make_shared<const data::Tensors>(std::move(*tensors)),
                        .objective = request.objective,
                        .timeout = request.timeout,
                        .priority = request.priority,
                        .caller_id = request.caller_id});
  }
}

void Journal::let_in(RequestId id, Call call) {
  Letter letter(Arriving{id, std::move(call), [this, id](const Answer& answer) { finish(id, answer); }, true});
  if (runner_.offer(std::move(letter))) return;
  finish(id, {.request = id, .kind = AnswerKind::rejected, .error = "the mailbox is full"});
}

void Journal::finish(RequestId id, const Answer& answer) {
  write_answer(id,
               {.state = stored(state_of(answer)),
                .finished = data::now(),
                .cost = answer.cost,
                .stage = answer.stage,
                .error = answer.error,
                .version = answer.version},
               answer.kind == AnswerKind::finished ? store::to_blob(answer.outputs) : std::string());
}

// An answer must not be lost because the writer is busy or the disk is full: it is tried again after the next that is
// kept.
void Journal::write_answer(RequestId id, store::Answer answer, std::string outputs) {
  auto kept = std::make_shared<std::pair<store::Answer, std::string>>(std::move(answer), std::move(outputs));
  writer_.post([id, kept](store::Store& s) { return s.finish_request(id, kept->first, kept->second); },
               [this, id, kept](const Status& status) {
                 std::vector<std::function<void()>> again;
                 {
                   const std::lock_guard lock(unwritten_mutex_);
                   const bool passes = !status && (status.error().code == ErrorCode::unavailable ||
                                                   status.error().code == ErrorCode::io);
                   if (passes) {
                     unwritten_.push_back([this, id, kept] { write_answer(id, kept->first, kept->second); });
                   } else {
                     again.swap(unwritten_);
                   }
                 }
                 for (auto& task : again) task();
               });
}

std::vector<RequestRecord> Journal::list(const RequestQuery& query) const {
  store::RequestQuery kept{.application = query.application, .limit = query.limit};
  if (query.state) kept.state = stored(*query.state);
  std::vector<RequestRecord> out;
  const auto records = reader_.list(kept);
  if (!records) return out;
  for (const store::RequestRecord& record : *records) out.push_back(record_of(record));
  return out;
}

std::optional<RequestRecord> Journal::find(RequestId request) const {
  const auto kept = reader_.find(request);
  if (!kept || !*kept) return std::nullopt;
  return record_of(**kept);
}

std::shared_ptr<const data::Tensors> Journal::outputs_of(RequestId request) const {
  const auto blob = reader_.outputs_of(request);
  if (!blob || !*blob) return nullptr;
  auto tensors = store::from_blob(**blob, *arena_);
  return tensors ? std::make_shared<const data::Tensors>(std::move(*tensors)) : nullptr;
}

}  // namespace sluice::live
