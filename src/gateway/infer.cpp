#include <algorithm>
#include <utility>

#include "base/text.h"
#include "gateway/admin_pages.h"
#include "gateway/endpoints.h"
#include "gateway/http_reply.h"
#include "gateway/json_text.h"
#include "gateway/models.h"
#include "gateway/oip_request.h"
#include "gateway/oip_response.h"
#include "gateway/refusal.h"
#include "gateway/row_calls.h"
#include "gateway/target.h"

namespace sluice::gateway {
namespace {

constexpr std::size_t kLargeOutputs = 256u << 10;  // as JSON several times as many

// A request that waits for its answer. The snapshot keeps the model.
struct Pending {
  SharedEndpoints endpoints;
  Respond respond;
  std::shared_ptr<const live::Snapshot> snapshot;
  const live::Model* model = nullptr;
  ResponseForm form;
  live::Answer answer;
  // Of a request that brought several rows; `answer` is then that of the first row, or of the one that failed.
  std::vector<data::Tensors> further = {};  // outputs of the rows after the first
  std::optional<std::size_t> failed_row = {};
  std::optional<RequestId> first_row = {};
};

RefusedCall refused(const Pending& pending) {
  return {.model = pending.model->name,
          .caller_id = pending.form.id,
          .row = pending.failed_row,
          .triton_errors = pending.endpoints->options.triton_errors};
}

void append_ids_of_rows(std::string& headers, const Pending& pending) {
  headers += "Sluice-Row-Request-Ids: ";
  for (std::uint32_t row = 0; row < pending.form.rows; ++row) {
    if (row > 0) headers += ',';
    pending.endpoints->ids.append(headers, RequestId(pending.first_row->value() + row));
  }
  headers += "\r\n";
}

Reply full_reply(const Pending& pending) {
  Reply reply;
  if (pending.answer.kind != live::AnswerKind::finished) {
    reply = refusal_of(pending.answer, refused(pending));
  } else {
    // A new version may have taken its place between arrival and start.
    const std::uint32_t served = pending.answer.version != 0 ? pending.answer.version : pending.model->version;
    auto response = write_infer_response({.name = pending.model->name, .version = served}, pending.form,
                                         pending.answer.outputs, pending.further);
    if (!response) {
      reply = reply_of(response.error());
    } else {
      reply.body = std::move(response->body);
      reply.packable = true;
      if (response->json_bytes) {
        reply.type = ContentType::octets;
        reply.headers = str("Inference-Header-Content-Length: ", *response->json_bytes, "\r\n");
      }
    }
  }
  constexpr std::string_view kId = "Sluice-Request-Id: ", kEnd = "\r\n";
  constexpr std::size_t kDigits = 16;
  reply.headers.reserve(reply.headers.size() + kId.size() + kDigits + kEnd.size());
  reply.headers += kId;
  pending.endpoints->ids.append(reply.headers, pending.answer.request);
  reply.headers += kEnd;
  if (pending.first_row) append_ids_of_rows(reply.headers, pending);
  return reply;
}

void observe(const Pending& pending, const live::Answer& answer) {
  pending.endpoints->metrics.observe({.tenant = pending.model->tenant, .name = pending.model->name}, answer);
}

// Writing the reply is the work of the connection's thread, not of the one that has the answer.
void reply_later(const std::shared_ptr<Pending>& pending) {
  const Respond respond = std::move(pending->respond);
  std::size_t bytes = 0;
  for (const data::Tensor& tensor : pending->answer.outputs) bytes += tensor.size;
  bytes *= 1 + pending->further.size();  // rows that can be stacked are of one size
  const auto make = [pending] { return full_reply(*pending); };
  bytes < kLargeOutputs ? respond->respond(make) : respond->respond_at_length(make);
}

void take_answer(const std::shared_ptr<Pending>& pending, live::Answer answer) {
  observe(*pending, answer);
  pending->answer = std::move(answer);
  reply_later(pending);
}

void take_rows(const std::shared_ptr<Pending>& pending, RowCalls::Outcome outcome) {
  pending->answer = std::move(outcome.answer);
  pending->further = std::move(outcome.further);
  pending->failed_row = outcome.failed;
  pending->first_row = outcome.first;
  reply_later(pending);
}

std::string accepted_page(std::string_view id, const live::Model& model) {
  std::string page = "{\"id\":\"" + std::string(id) + "\",\"model_name\":";
  append_json(page, model.name);
  return page + ",\"model_version\":\"" + str(model.version) + "\"}";
}

void call_later(const std::shared_ptr<Pending>& pending, live::Call call) {
  pending->endpoints->service.call_later(std::move(call), [pending](Result<RequestId> accepted) {
    if (!accepted) {
      Reply reply = unreadable(accepted.error(), refused(*pending));
      return answer(pending->respond, std::move(reply));
    }
    answer(pending->respond,
           {.status = 202, .body = accepted_page(pending->endpoints->ids.text(*accepted), *pending->model)});
  });
}

void call_now(const std::shared_ptr<Pending>& pending, live::Call call) {
  live::Service& service = pending->endpoints->service;
  const Respond respond = pending->respond;  // the answer may come before call() returns
  const Principal principal = call.principal;
  const RequestId id =
      service.call(std::move(call), [pending](live::Answer given) { take_answer(pending, std::move(given)); });
  respond->on_disconnect([&service, principal, id] { service.cancel(principal, id); });
}

void call_rows(const std::shared_ptr<Pending>& pending, live::Call call) {
  const Respond respond = pending->respond;
  auto rows = split_rows(*call.inputs, pending->form.rows);
  const auto calls = std::make_shared<RowCalls>(
      pending->endpoints->service, call.principal, rows.size(),
      RowCalls::Listeners{.row = [pending](const live::Answer& answer) { observe(*pending, answer); },
                          .all = [pending](RowCalls::Outcome outcome) { take_rows(pending, std::move(outcome)); }});
  calls->call(std::move(call), std::move(rows));
  // The exchange must not keep the calls, which keep the exchange until they are answered.
  respond->on_disconnect([under_way = std::weak_ptr(calls)] {
    if (const auto those = under_way.lock()) those->cancel();
  });
}

}  // namespace

void infer(const SharedEndpoints& endpoints, const ModelPath& path, const Request& request, const Respond& respond) {
  auto snapshot = endpoints->service.snapshot();
  ModelLookup found = look_up_ready(*snapshot, path);
  if (found.model == nullptr) return answer(respond, std::move(found.refusal));
  found.model = &chosen(*found.model, path);
  const live::Target* target = found.model->target.get();
  const auto arena = target == nullptr ? endpoints->service.arena(found.model->tenant) : target->arena;
  auto read = read_infer_request({.bytes = request.body, .json_bytes = request.json_bytes}, *found.model, arena.get());
  if (!read) {
    const RefusedCall call{.model = path.name, .caller_id = {}, .triton_errors = endpoints->options.triton_errors};
    return answer(respond, unreadable(read.error(), call));
  }
  live::Call call{.principal = request.principal,
                  .application = found.model->name,
                  .target = found.model->target,
                  .inputs = std::move(read->inputs),
                  .objective = read->objective,
                  .timeout = read->timeout,
                  .priority = read->priority,
                  .caller_id = read->form.id};
  const auto pending = std::make_shared<Pending>(Pending{.endpoints = endpoints,
                                                         .respond = respond,
                                                         .snapshot = std::move(snapshot),
                                                         .model = found.model,
                                                         .form = std::move(read->form),
                                                         .answer = {}});
  const std::uint32_t rows = std::max(1u, pending->form.rows);
  const bool later = !request.query.empty() && query_value(request.query, "async") == "true";
  if (later && rows > 1) {
    return answer(respond, error_reply(400, str("infer?async=true takes one row, got ", rows,
                                                ": send one request for each row")));
  }
  if (auto refused = endpoints->service.enter(call, rows)) return take_answer(pending, *std::move(refused));
  if (rows > 1) return call_rows(pending, std::move(call));
  later ? call_later(pending, std::move(call)) : call_now(pending, std::move(call));
}

}  // namespace sluice::gateway
