// AgentLink: the agent of this machine as the scheduler's driver knows it. A command is a function call.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bus/link.h"
#include "invoker/agent.h"

namespace sluice::invoker {

class AgentLink final : public bus::Link {
 public:
  // The machines that the agent stands for, numbered from 0; `epoch` grows with every start.
  struct Machines {
    std::vector<NodeGroup> nodes;
    std::uint64_t epoch = 0;
    OnRemark note;
    std::function<void(const GpuForms&)> forms = {};  // see AgentHooks
  };
  AgentLink(AgentOptions options, data::Arenas& arenas, data::ObjectStore& objects, const Machines& machines);

  [[nodiscard]] Agent& agent() { return agent_; }

  void deploy(ApplicationId id, std::shared_ptr<const Application> application) override {
    agent_.deploy(id, std::move(application));
  }
  void forget(ApplicationId id) override { agent_.forget(id); }
  void limit(const bus::TenantLimit& limit) override { agent_.limit(limit.tenant, limit.vcpu); }
  void want_sample(ApplicationId application, FunctionId function, bool wanted) override {
    agent_.want_sample(application, function, wanted);
  }
  void send(Command& command) override { agent_.act(command); }
  void receive(Time now, bus::Heard& out) override;
  [[nodiscard]] Time due() const override { return heard_.empty() ? agent_.due() : Time(); }

 private:
  bus::Heard heard_;  // since the last receive(); before agent_, which fills it
  Agent agent_;
};

}  // namespace sluice::invoker
