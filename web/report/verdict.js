// The head of the page: who won, and why.
const hits = s => s.slo_hit_rate,
  cost = s => s.cost_per_met_request;
const half = (s, field) => (s.ci95 ? s.ci95[field] : 0);
// 1: a is better, -1: b, 0: level within the intervals or a hair.
function compare_hits(a, b) {
  const d = hits(a) - hits(b);
  return Math.abs(d) <= Math.max(0.0005, half(a, 'slo_hit_rate') + half(b, 'slo_hit_rate')) ? 0 : Math.sign(d);
}
function compare_cost(a, b) {
  if (!a.met || !b.met) return Math.sign((a.met ? 1 : 0) - (b.met ? 1 : 0));
  const d = cost(b) - cost(a);
  return Math.abs(d) <= Math.max(0.002 * cost(a), half(a, 'cost_per_met_request') + half(b, 'cost_per_met_request'))
    ? 0
    : Math.sign(d);
}
const ranked = [...schedulers].sort((a, b) => compare_hits(b, a) || compare_cost(b, a) || a.index - b.index);
const winner = ranked[0];
const dollars = d => '$' + fixed(d * 1e6, d * 1e6 >= 100 ? 0 : d * 1e6 >= 10 ? 1 : 2);
const rate = s => (s.met === 0 ? 'none' : hits(s) === 1 ? 'all' : percent(hits(s)));
function difference(s) {
  if (!s.met || !winner.met) return '';
  const ratio = cost(s) / cost(winner) - 1;
  if (compare_cost(s, winner) === 0) return ' at the same cost';
  const factor = cost(s) / cost(winner);
  return factor >= 2
    ? ` and cost ${fixed(factor, 1)} times as much`
    : ` and cost ${fixed(Math.abs(ratio) * 100, Math.abs(ratio) < 0.1 ? 1 : 0)} % ${ratio > 0 ? 'more' : 'less'}`;
}
function verdict() {
  const b = name => el('strong', {}, name);
  const out = [
    b(winner.name),
    ` met ${rate(winner)} of ${group(winner.requests)} objectives`,
    winner.met ? ` at ${dollars(cost(winner))} per million met requests` : ''
  ];
  const rest = ranked.slice(1);
  const level = rest.filter(s => compare_hits(s, winner) === 0 && compare_cost(s, winner) === 0);
  for (const s of rest)
    out.push(
      '; ',
      b(s.name),
      level.includes(s)
        ? ` (${rate(s)}) is level with it${data.repeat > 1 ? ' within the intervals' : ''}`
        : ` met ${rate(s)}${difference(s)}`
    );
  out.push('.');
  return out;
}
// The share of the objective that a part of all requests of a scheduler stayed within.
function share_quantile(s, q) {
  let total = 0;
  const bins = new Map();
  for (const a of s.shares) {
    a.counts.forEach((n, i) => bins.set(a.first + i, (bins.get(a.first + i) || 0) + n));
    total += a.counts.reduce((x, y) => x + y, 0) + a.slower;
  }
  let seen = 0;
  for (const bin of [...bins.keys()].sort((x, y) => x - y))
    if ((seen += bins.get(bin)) >= q * total) return (bin + 1) / data.bins_per_objective;
  return Infinity;
}
const per_request = (s, phase) =>
  s.times_ms[phase] /
  Math.max(
    1,
    s.shares.reduce((n, a) => n + a.ends.reduce((x, y) => x + y, 0), 0)
  );
function mean_of(s, field) {
  let sum = 0,
    n = 0;
  for (const a of s.actions)
    if (a.kind === 0) {
      sum += a[field] * a.members.length;
      n += a.members.length;
    }
  return n ? sum / n : 0;
}
function why() {
  const out = [];
  const rest = ranked.slice(1).filter(s => compare_hits(s, winner) !== 0 || compare_cost(s, winner) !== 0);
  if (ranked.length > 1 && rest.length === 0) {
    const easy = schedulers.every(s => hits(s) > 0.999);
    out.push('Nothing separates them here' + (easy ? ': the objectives are wide enough for each of them.' : '.'));
  }
  for (const s of rest.slice(0, 3)) {
    const facts = [];
    const a = share_quantile(winner, 0.5),
      b = share_quantile(s, 0.5);
    if (b - a > 0.015)
      facts.push(
        `half of its requests need more than ${b < 10 ? `${fixed(b * 100, 0)} % of` : '10 times'} their objective (${winner.name}: ${fixed(a * 100, 0)} %)${b < 1 ? ', which leaves less room for bad luck' : ''}`
      );
    const w0 = per_request(winner, 'waiting'),
      w1 = per_request(s, 'waiting');
    if (w1 - w0 > 5 && w1 > 1.2 * w0)
      facts.push(`requests wait ${fixed(w1, 0)} ms in queues (${winner.name}: ${fixed(w0, 0)} ms)`);
    if (w0 - w1 > 5 && w0 > 1.2 * w1) facts.push(`requests wait less (${fixed(w1, 0)} ms against ${fixed(w0, 0)} ms)`);
    const e0 = per_request(winner, 'execution'),
      e1 = per_request(s, 'execution');
    if (Math.abs(e1 / e0 - 1) > 0.02)
      facts.push(
        `stages execute ${fixed(Math.abs(e1 / e0 - 1) * 100, 0)} % ${e1 > e0 ? 'longer' : 'shorter'}, with ${fixed(mean_of(s, 'vcpu'), 1)} vCPUs and ${fixed(mean_of(s, 'vgpu'), 1)} slices a batch against ${fixed(mean_of(winner, 'vcpu'), 1)} and ${fixed(mean_of(winner, 'vgpu'), 1)}`
      );
    if (Math.abs(s.mean_batch - winner.mean_batch) > 0.05)
      facts.push(`its batches hold ${fixed(s.mean_batch, 2)} requests against ${fixed(winner.mean_batch, 2)}`);
    const c = s.cost_per_request / winner.cost_per_request - 1;
    if (Math.abs(c) > 0.005)
      facts.push(
        `a request costs ${fixed(Math.abs(c) * 100, 1)} % ${c > 0 ? 'more' : 'less'}${c < 0 && compare_cost(s, winner) < 0 ? ', but more of them miss' : ''}`
      );
    if (facts.length) out.push([el('strong', {}, s.name), ': ', facts.join('; '), '.']);
  }
  for (const s of schedulers) {
    const lost = [
      [s.rejected, 'rejected'],
      [s.failed, 'failed'],
      [s.cancelled, 'cancelled']
    ].filter(([n]) => n > 0);
    if (lost.length)
      out.push([
        el('strong', {}, s.name),
        `: ${lost.map(([n, what]) => `${group(n)} ${what}`).join(', ')}, ${group(s.late)} late.`
      ]);
  }
  return out;
}
function head() {
  document.title = `${data.experiment}: Sluice report`;
  $('name').textContent = data.experiment;
  const seeds = data.repeat > 1 ? `seeds ${data.seed} to ${data.seed + data.repeat - 1}` : `seed ${data.seed}`;
  $('setup').textContent = [
    `${group(data.requests)} requests after ${group(data.warmup)} of warm-up`,
    plural(data.applications.length, 'application', 'applications'),
    ...data.setup,
    seeds
  ].join(' · ');
  fill($('verdict'), verdict());
  fill(
    $('why'),
    why().map(text => el('li', {}, text))
  );
  $('result-lead').textContent =
    data.repeat > 1
      ? `Means of ${data.repeat} runs with their 95 % intervals; latencies and everything below are of the first, seed ${data.seed}.`
      : 'Rejected and failed requests count as missed. The small mark is the application that fared worst.';
  fill(
    $('hashes'),
    'Hash of all commands: ',
    schedulers.map((s, i) => [i ? ', ' : '', `${s.name} `, el('code', {}, s.hash)])
  );
}
