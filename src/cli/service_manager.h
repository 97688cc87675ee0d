// What systemd wants to know of a service of `Type=notify`: that it is ready, that it stops. Where there is no
// NOTIFY_SOCKET nothing happens.
#pragma once
#include <string_view>

namespace sluice::cli {

// Lines as sd_notify(3) has them: "READY=1", "STOPPING=1". Does not wait, and whether it is heard is nobody's problem.
void tell_service_manager(std::string_view lines);

}  // namespace sluice::cli
