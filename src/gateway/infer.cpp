#include <utility>

#include "base/text.h"
#include "gateway/admin_pages.h"
#include "gateway/endpoints.h"
#include "gateway/json_text.h"
#include "gateway/models.h"
#include "gateway/oip_request.h"
#include "gateway/oip_response.h"
#include "gateway/refusal.h"
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
};

RefusedCall refused(const Pending& pending) {
  return {.model = pending.model->name,
          .caller_id = pending.form.id,
          .triton_errors = pending.endpoints->options.triton_errors};
}

Reply full_reply(const Pending& pending) {
  Reply reply;
  if (pending.answer.kind != live::AnswerKind::finished) {
    reply = refusal_of(pending.answer, refused(pending));
  } else {
    // A new version may have taken its place between arrival and start.
    const std::uint32_t served = pending.answer.version != 0 ? pending.answer.version : pending.model->version;
    auto response =
        write_infer_response({.name = pending.model->name, .version = served}, pending.form, pending.answer.outputs);
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
  return reply;
}

// Writing the reply is the work of the connection's thread, not of the one that has the answer.
void take_answer(const std::shared_ptr<Pending>& pending, live::Answer answer) {
  pending->endpoints->metrics.observe({.tenant = pending->model->tenant, .name = pending->model->name}, answer);
  pending->answer = std::move(answer);
  const Respond respond = std::move(pending->respond);
  std::size_t bytes = 0;
  for (const data::Tensor& tensor : pending->answer.outputs) bytes += tensor.size;
  const auto make = [pending] { return full_reply(*pending); };
  bytes < kLargeOutputs ? respond->respond(make) : respond->respond_at_length(make);
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
  if (auto refused = endpoints->service.enter(call)) return take_answer(pending, *std::move(refused));
  const bool later = !request.query.empty() && query_value(request.query, "async") == "true";
  later ? call_later(pending, std::move(call)) : call_now(pending, std::move(call));
}

}  // namespace sluice::gateway
