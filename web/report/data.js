// The runs as the program wrote them (src/report/sim_page.cpp), with names for numbers. Times are microseconds since the
// first arrival of the closer look.
const data = JSON.parse(document.getElementById('data').textContent);
const ENDINGS = ['met', 'late', 'rejected', 'failed', 'cancelled'];
const PHASES = ['waiting', 'deciding', 'loading', 'transfer', 'execution'];
const PHASE_TEXT = {
  waiting: 'waiting in the queue',
  deciding: 'scheduler',
  loading: 'loading the model',
  transfer: 'transfer of inputs',
  execution: 'execution'
};
// Okabe and Ito's colours, which people with any colour vision tell apart; lines also differ in their dashes.
const LINES = [
  ['#0072b2', ''],
  ['#e69f00', '7 4'],
  ['#009e73', '2 3'],
  ['#cc79a7', '9 3 2 3'],
  ['#d55e00', '4 2'],
  ['#56b4e9', '1 2'],
  ['#8a8f98', '12 4']
];
const FILLS = ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#f0e442', '#0072b2', '#a6761d', '#9aa0a8'];
const line_of = i => LINES[i % LINES.length],
  fill_of = i => FILLS[i % FILLS.length];

const schedulers = data.schedulers.map((s, index) => {
  const w = s.window;
  const requests = w.requests.map(r => ({
    id: r[0],
    app: r[1],
    arrival: r[2],
    objective: r[3],
    latency: r[4],
    ending: ENDINGS[r[5]],
    cost: r[6] / 1e9,
    cold: !!r[7],
    reason: r[8],
    parts: []
  }));
  requests.sort((a, b) => a.id - b.id);
  const by_id = new Map(requests.map(r => [r.id, r]));
  const actions = w.actions.map(a => {
    const action = {
      id: a[0],
      kind: a[1],
      stage: w.stages[a[2]],
      stage_index: a[2],
      invoker: a[3],
      gpu: a[4],
      slices: a[5],
      batch: a[6],
      vcpu: a[7],
      vgpu: a[8],
      decided: a[9],
      deciding: a[10],
      loading: a[11],
      transfer: a[12],
      expected: a[13],
      measured: a[14],
      finish: a[9] + a[15],
      end: a[16],
      queued: a[17],
      members: [],
      late: false
    };
    action.begin = action.decided + action.deciding;
    for (let i = 0; i < a[18].length; i += 2) {
      const member = {id: a[18][i], waited: a[18][i + 1], request: by_id.get(a[18][i])};
      action.members.push(member);
      if (!member.request) continue;
      member.request.parts.push({action, ready: action.decided - member.waited});
      if (member.request.ending === 'late') action.late = true;
    }
    return action;
  });
  actions.sort((a, b) => a.begin - b.begin || a.id - b.id);
  for (const r of requests) r.parts.sort((a, b) => a.ready - b.ready || a.action.id - b.action.id);
  const longest = actions.reduce((m, a) => Math.max(m, a.finish - a.begin), 0);
  return {...s, index, name: s.scheduler, list: requests, by_id, actions, longest};
});
const finished = r => r.ending === 'met' || r.ending === 'late';
