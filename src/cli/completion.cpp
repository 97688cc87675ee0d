// `sluice completion bash`.
#include <cstdio>

#include "cli/commands.h"

namespace sluice::cli {
namespace {

constexpr const char* kBash = R"(# bash completion of sluice; use: source <(sluice completion bash)
_sluice() {
  local current="${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "up deploy promote rollback apps remove invoke requests trace keys tenants status nodes profile doctor init check plan sim soak replay reproduce completion --help --version" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = plan ]]; then
    COMPREPLY=($(compgen -W "--slo --queue --elapsed --from --planner --top --percentile --repeat --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = sim ]]; then
    COMPREPLY=($(compgen -W "--scheduler --seed --requests --repeat --csv --html --log --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = reproduce ]]; then
    COMPREPLY=($(compgen -W "--setting --full --sweep --streams --requests --profile --csv --html --markdown --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = up ]]; then
    COMPREPLY=($(compgen -W "--demo --listen --data --cluster --scheduler --admission --gpus --gpu-mode --gpu-slices --gpu-mps --objects --max-request-bytes --threads --durable --triton-errors --open-metrics --guard-metrics --tls-cert --tls-key --log --log-level --log-file --json --config --check-config --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = deploy ]]; then
    COMPREPLY=($(compgen -W "--dry-run --canary --server --ca --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = rollback ]]; then
    COMPREPLY=($(compgen -W "--to --server --ca --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = invoke ]]; then
    COMPREPLY=($(compgen -W "--data --input --image --output --slo --async --repeat --server --ca --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = requests ]]; then
    COMPREPLY=($(compgen -W "--application --state --limit --server --ca --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = trace ]]; then
    COMPREPLY=($(compgen -W "--log --server --ca --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" =~ ^(apps|remove|promote|status|nodes)$ ]]; then
    COMPREPLY=($(compgen -W "--server --ca --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = profile ]]; then
    COMPREPLY=($(compgen -W "--function --budget --batch --vcpu --out --json --help" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = doctor ]]; then
    COMPREPLY=($(compgen -W "--server --ca --data --json --help" -- "$current"))
  elif [ "${COMP_WORDS[COMP_CWORD-1]}" = --runtime ]; then
    COMPREPLY=($(compgen -W "python torch process" -- "$current"))
  elif [[ "$current" == -* && "${COMP_WORDS[1]}" = init ]]; then
    COMPREPLY=($(compgen -W "--runtime --help" -- "$current"))
  elif [ "${COMP_WORDS[COMP_CWORD-1]}" = --state ]; then
    COMPREPLY=($(compgen -W "running met late rejected failed cancelled" -- "$current"))
  elif [ "${COMP_WORDS[COMP_CWORD-1]}" = --sweep ]; then
    COMPREPLY=($(compgen -W "capacity arrivals noise laws layouts transfer price k group containers orion ablations ideas bounds assumptions tuning page" -- "$current"))
  elif [ "${COMP_WORDS[COMP_CWORD-1]}" = reproduce ]; then
    COMPREPLY=($(compgen -W "esg" -- "$current"))
  elif [ "${COMP_WORDS[COMP_CWORD-1]}" = --planner ]; then
    COMPREPLY=($(compgen -W "frontier esg-1q label brute-force" -- "$current"))
  elif [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "--json --help" -- "$current"))
  elif [ "${COMP_WORDS[1]}" = completion ]; then
    COMPREPLY=($(compgen -W "bash" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _sluice sluice
)";

}  // namespace

int completion(const std::string& shell) {
  if (shell != "bash") {
    std::fprintf(stderr, "error: no completion for '%s'; there is one for bash\n", shell.c_str());
    return 2;
  }
  std::fputs(kBash, stdout);
  return 0;
}

}  // namespace sluice::cli
