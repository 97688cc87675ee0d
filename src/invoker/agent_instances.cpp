// How the agent loads functions into processes and takes them out again.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "data/clock.h"
#include "data/tensor.h"
#include "invoker/agent.h"
#include "invoker/worker_end.h"

namespace sluice::invoker {
namespace {

// Bytes of one row of all declared outputs; 0: some have no fixed size.
std::size_t declared_row_bytes(const Function& function) {
  std::size_t total = 0;
  for (const Port& port : function.outputs) {
    const auto bytes = data::byte_size(port.type, port.shape);
    if (!bytes || *bytes == 0) return 0;
    total += (*bytes + data::Arena::kAlignment - 1) / data::Arena::kAlignment * data::Arena::kAlignment;
  }
  return total;
}

// On a GPU `memory` is what the books gave it there: one that takes more would take it from others. What is wrong, if
// so.
std::string too_large(const Function& function, const wire::Loaded& loaded) {
  if (!function.memory || loaded.device_memory <= *function.memory) return {};
  return str("its weights take ", to_string(loaded.device_memory), " of the GPU, and `memory:` says ",
             to_string(*function.memory));
}

}  // namespace

ColdStart& Agent::cold_start_of(const Instance& instance) {
  const Application& application = applications_[instance.application];
  return cold_starts_[{application.tenant, application.name, applications_.function(instance).name}];
}

void Agent::load(const LoadInstance& command) {
  const Function& function = applications_.function(command.application, command.function);
  if (Instance* known = find(command.instance)) {                  // its process is there: only the level rises
    if (known->leaving || command.level <= known->wanted) return;  // delivered twice
    known->wanted = command.level;
    known->since = data::now();
    if (known->process->on_gpu) return move(*known);
    known->ready_at = known->since + function.cold_start.device;
    return;
  }
  auto instance = std::make_unique<Instance>();
  instance->id = command.instance;
  instance->invoker = command.invoker;
  instance->application = command.application;
  instance->function = command.function;
  instance->version = code_of(function);
  instance->gpu = command.gpu;
  instance->wanted = command.level;
  instance->since = data::now();
  instance->outputs = OutputSize(declared_row_bytes(function));
  const bool emulated = applications_.body(*instance).runtime == Runtime::emulated;
  if (emulated) instance->ready_at = instance->since + function.cold_start.total();
  Process& process = process_for(*instance);
  if (!emulated && !process.on_gpu) instance->memory_max = function.memory;
  instance->process = &process;
  instance->number = process.functions++;
  process.instances.push_back(instance.get());
  Instance& added = *instances_.emplace(command.instance, std::move(instance)).first->second;
  if (process.session) {
    tell_to_load(added);
  } else if (process.instances.size() == 1) {
    make(process);
  }
  publish();
}

// One that the instance shares, or one of its own.
Process& Agent::process_for(const Instance& instance) {
  const Runtime runtime = applications_.body(instance).runtime;
  const std::string& tenant = applications_[instance.application].tenant;
  const std::uint16_t gpu = instance.wanted == Level::device ? instance.gpu : 0;
  const bool on_gpu = instance.wanted == Level::device && gpu < options_.gpus.devices.size();
  const auto sharing = options_.sharing.find(runtime);
  const bool shared = (on_gpu && options_.gpus.mode != GpuMode::none) ||
                      (!on_gpu && sharing != options_.sharing.end() && sharing->second.one_process &&
                       !has_own_interpreter(applications_.body(instance)));
  for (auto& [id, process] : processes_) {
    if (!shared || !process->shared || process->invoker != instance.invoker || process->tenant != tenant ||
        process->runtime != runtime || process->gpu != gpu || process->on_gpu != on_gpu ||
        process->instances.size() >= wire::functions_max)
      continue;
    return *process;
  }
  auto made = std::make_unique<Process>();
  made->id = ProcessId(next_process_++);
  made->invoker = instance.invoker;
  made->tenant = tenant;
  made->runtime = runtime;
  made->gpu = gpu;
  made->on_gpu = on_gpu;
  made->shared = shared;
  const bool limited = runtime != Runtime::emulated && applications_.function(instance).memory.has_value();
  made->memory_by_group = limited && !shared && !on_gpu && limits_.limits_memory();
  return *processes_.emplace(made->id, std::move(made)).first->second;
}

void Agent::tell_to_load(Instance& instance) {
  Process& process = *instance.process;
  cold_start_of(instance).process.add(std::max(process.made, instance.since) - instance.since);
  const Body& body = applications_.body(instance);
  const auto form = forms_.find({process.tenant, instance.version});
  const Status told = process.session->load(instance.number, applications_.function(instance), body,
                                            form == forms_.end() ? body.form : form->second);
  if (!told && !process.session->hung_up()) {
    lose(process, str("cannot be told what to load: ", told.error().message));
  }
}

void Agent::on_loaded(Process& process, const wire::Loaded& loaded) {
  const auto it = std::find_if(process.instances.begin(), process.instances.end(),
                               [&](const Instance* one) { return one->number == loaded.function; });
  Instance& instance = **it;  // the session knows what is being loaded
  if (instance.leaving) {
    if (loaded.error.empty()) return leave(instance);
    return remove(instance);
  }
  const Function& function = applications_.function(instance);
  const std::string refused = process.on_gpu ? too_large(function, loaded) : "";
  if (!loaded.error.empty() || !refused.empty()) {
    const std::string& why = refused.empty() ? loaded.error : refused;
    const LoadFailed failed{.invoker = instance.invoker,
                            .instance = instance.id,
                            .error = str("LoadFailed: function '", function.name, "' cannot be loaded: ", why)};
    pauses_.crashed(instance.what(), data::now());
    hooks_.note(worker_remark(Remark::Level::error, failed.error, true));
    instance.leaving = true;
    if (refused.empty())
      remove(instance);
    else
      leave(instance);
    return hooks_.event(failed);
  }
  instance.loaded = true;
  instance.loaded_at = data::now();
  if (process.running == 0) process.idle = instance.loaded_at;
  instance.batches = loaded.batches;
  instance.memory = process.on_gpu ? loaded.device_memory : loaded.memory;
  if (process.on_gpu) {
    ++counters_.gpus[instance.gpu].loads;
    instance.form = loaded.form;
    // Finding out which form is best took its worker most of a second.
    const bool fits = loaded.form.known() && loaded.form.agrees_with(applications_.body(instance).form);
    const bool news = fits && forms_.size() < gpu_forms_max &&
                      forms_.insert_or_assign({process.tenant, instance.version}, loaded.form).second;
    if (news && hooks_.forms) hooks_.forms(forms_);
  }
  cold_start_of(instance).load.add(instance.loaded_at - std::max(process.made, instance.since));
  if (!instance.ready_at) instance.ready_at = instance.since;
  hooks_.note(
      worker_remark(Remark::Level::info,
                    str("the worker of function '", applications_.function(instance).name, "' has loaded it: process ",
                        process.session->process().pid, ", ", (instance.loaded_at - instance.since).to_ms(), " ms"),
                    true));
  publish();
}

void Agent::move(Instance& instance) {
  if (instance.moving) return;
  instance.moving = instance.wanted;
  Process& process = *instance.process;
  if (!process.session->move(instance.number, instance.wanted) && !process.session->hung_up()) {
    lose(process, "does not read what it is told");
  }
}

void Agent::on_moved(Process& process, const wire::Moved& moved) {
  Instance& instance =
      **std::ranges::find(process.instances, moved.function, &Instance::number);  // the session knows what moves
  const Level to = *std::exchange(instance.moving, std::nullopt);
  const std::string& name = applications_.function(instance).name;
  const bool there = moved.error.empty();
  if (!there && to != Level::device) {
    return lose(process, str("cannot take function '", name, "' off its GPU: ", moved.error));
  }
  if (instance.leaving) return leave(instance);
  if (there && to != instance.wanted) return move(instance);
  if (there && to == Level::device) {
    ++counters_.gpus[instance.gpu].loads;
    instance.ready_at = data::now();
    return;
  }
  if (!there && instance.wanted == Level::device) {
    instance.wanted = instance.level;
    const LoadFailed failed{
        .invoker = instance.invoker,
        .instance = instance.id,
        .error = str("LoadFailed: function '", name, "' cannot be put back on its GPU: ", moved.error)};
    hooks_.note(worker_remark(Remark::Level::error, failed.error, true));
    return hooks_.event(failed);
  }
  instance.level = instance.wanted;
  publish();
  hooks_.event(InstanceUnloaded{.invoker = instance.invoker, .instance = instance.id, .level = instance.level});
}

void Agent::evict(const EvictInstance& command) {
  Instance* instance = find(command.instance);
  if (instance == nullptr || instance->leaving) return;
  const bool on_gpu = instance->process->on_gpu;
  if (command.level != Level::none && on_gpu && instance->loaded) {
    if (command.level >= instance->wanted) return;  // delivered twice
    instance->wanted = command.level;
    instance->since = data::now();
    return move(*instance);
  }
  if (command.level != Level::none && !on_gpu) {
    instance->level = instance->wanted = command.level;
    return hooks_.event(
        InstanceUnloaded{.invoker = command.invoker, .instance = command.instance, .level = command.level});
  }
  instance->leaving = true;  // also one that is on its way to its GPU: there is nothing yet that could stay on the host
  if (instance->running == 0) leave(*instance);
}

// An instance that has its process alone goes with it, once all that the process keeps on its GPU is here: its requests
// would begin again, need the instance again, and might never end where there is no room for two. Else the process is
// told, once it has loaded it.
void Agent::leave(Instance& instance) {
  Process& process = *instance.process;
  if (process.instances.size() == 1 && process.session && !process.session->hung_up() && kept_.rescue(process)) return;
  const InstanceUnloaded gone{.invoker = instance.invoker, .instance = instance.id};
  if (process.instances.size() == 1 || !process.session) {
    remove(instance);
    return hooks_.event(gone);
  }
  if (instance.moving || process.session->is_loading(instance.number)) return;
  instance.unloading = true;
  if (!process.session->unload(instance.number) && !process.session->hung_up()) {
    lose(process, "does not read what it is told");
  }
}

void Agent::on_unloaded(Process& process, const wire::Unloaded& unloaded) {
  const auto it = std::find_if(process.instances.begin(), process.instances.end(),
                               [&](const Instance* one) { return one->number == unloaded.function; });
  const InstanceUnloaded gone{.invoker = (*it)->invoker, .instance = (*it)->id};
  remove(**it);
  hooks_.event(gone);
}

void Agent::remove(Instance& instance) {
  Process& process = *instance.process;
  if (process.instances.size() == 1 && process.session) {
    hooks_.note(
        worker_remark(Remark::Level::info,
                      str("the worker of function '", applications_.function(instance).name, "' is ended: process ",
                          process.session->process().pid, " has nothing loaded any more"),
                      true));
  }
  std::erase(process.instances, &instance);
  instances_.erase(InstanceId(instance.id));
  if (process.instances.empty()) {
    kept_.lose(process.id);
    end(process);
    processes_.erase(ProcessId(process.id));
  }
  publish();
}

}  // namespace sluice::invoker
