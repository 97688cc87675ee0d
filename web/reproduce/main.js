const rows = JSON.parse(document.getElementById('data').textContent).rows;
const main = document.getElementById('main');
const COLOURS = ['#0072b2', '#56b4e9', '#d55e00', '#e69f00', '#cc79a7', '#009e73', '#8a8f98', '#b8a200', '#7a5195'];

function element(tag, attributes = {}, ...children) {
  const svg = ['svg', 'path', 'text', 'line', 'g'].includes(tag);
  const e = svg ? document.createElementNS('http:'.concat('//www.w3.org/2000/svg'), tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

const unique = (list) => [...new Set(list)];
const figures = new Map(rows.map((r) => [[r.experiment, r.setting, r.scheduler, r.metric].join('|'), r.ours]));
const figure = (...key) => figures.get(key.join('|'));
const percent = (x) => (100 * x).toFixed(2);

function section(title, lead, ...content) {
  main.append(
    element('section', {}, element('h2', {}, title), element('p', { class: 'lead' }, lead), element('div', { class: 'scroll' }, ...content)),
  );
}

function table(head, lines) {
  const cell = (c) => (c instanceof Element ? c : element('td', {}, c));
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head.map((h) => element('th', {}, h)))),
    element('tbody', {}, ...lines.map(([name, ...cells]) => element('tr', {}, element('th', {}, name), ...cells.map(cell)))),
  );
}

// The redder, the fewer hits.
function heat(hits, cost) {
  const text = `${percent(hits)} @ ${cost === null || cost === undefined ? '–' : (1e6 * cost).toFixed(0)}`;
  const share = Math.min(1, Math.max(0, (1 - hits) * 4)) * 45;
  return element('td', { style: `background: color-mix(in srgb, var(--late) ${share.toFixed(0)}%, transparent)` }, text);
}

function grid(experiment, title) {
  const own = rows.filter((r) => r.experiment === experiment && r.metric === 'slo_hit_rate');
  if (own.length === 0) return;
  const schedulers = unique(own.map((r) => r.scheduler));
  const lines = unique(own.map((r) => r.setting)).map((setting) => [
    setting,
    ...schedulers.map((s) => {
      const hits = figure(experiment, setting, s, 'slo_hit_rate');
      return hits === undefined || hits === null ? '' : heat(hits, figure(experiment, setting, s, 'cost_per_met_request'));
    }),
  ]);
  section(title, 'Hits in per cent @ millionths of a dollar per met request; the redder, the fewer hits.', table(['setting', ...schedulers], lines));
}

// Hits over load, a curve per scheduler.
function curves(title, own) {
  const width = 720, height = 300, left = 46, bottom = 30, top = 10;
  const load = (r) => Number(r.setting.split('load=')[1]);
  const x = (v) => left + (v / 1.6) * (width - left - 10);
  const y = (v) => top + (1 - v) * (height - bottom - top);
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title });
  for (const v of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(element('line', { x1: left, x2: width - 10, y1: y(v), y2: y(v), stroke: 'var(--line)' }));
    svg.append(element('text', { x: left - 6, y: y(v) + 4, 'text-anchor': 'end', class: 'muted' }, `${100 * v}`));
  }
  for (const v of [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6]) {
    svg.append(element('text', { x: x(v), y: height - 10, 'text-anchor': 'middle', class: 'muted' }, `×${v}`));
  }
  const legend = element('div', { class: 'legend' });
  unique(own.map((r) => r.scheduler)).forEach((s, i) => {
    const points = own.filter((r) => r.scheduler === s).map((r) => [load(r), r.ours]).sort((a, b) => a[0] - b[0]);
    const path = points.map(([l, hits], n) => `${n ? 'L' : 'M'}${x(l).toFixed(1)} ${y(hits).toFixed(1)}`).join('');
    const colour = COLOURS[i % COLOURS.length];
    svg.append(element('path', { d: path, fill: 'none', stroke: colour, 'stroke-width': 2 }));
    legend.append(element('span', {}, element('i', { class: 'key', style: `background: ${colour}` }), s));
  });
  section(`Load: ${title}`, 'Hits in per cent by load, in multiples of heavy.', legend, svg);
}

function capacity() {
  const own = rows.filter((r) => r.metric === 'capacity_at_99');
  if (own.length === 0) return;
  const schedulers = unique(own.map((r) => r.scheduler));
  const lines = unique(own.map((r) => r.setting)).map((setting) => [
    setting,
    ...schedulers.map((s) => {
      const value = figure('capacity', setting, s, 'capacity_at_99');
      return value === null || value === undefined ? '–' : value.toFixed(2);
    }),
  ]);
  section('Capacity', 'The largest load with 99 % hits, in multiples of heavy.', table(['setting', ...schedulers], lines));
}

function claims() {
  const own = rows.filter((r) => r.holds !== null);
  if (own.length === 0) return;
  const number = (n) => (n === null ? '–' : Number(n.toPrecision(4)).toString());
  const lines = own.map((r) => [
    r.setting,
    r.scheduler,
    element('td', { class: r.holds ? 'holds' : 'fails' }, r.holds ? 'holds' : 'does not'),
    number(r.ours),
    number(r.paper),
    r.mark,
    element('td', { class: 'text' }, r.claim),
  ]);
  section('Claims', 'What the paper says, and what we say; with the numbers here.', table(['setting', 'scheduler', '', 'ours', 'paper', 'mark', 'claim'], lines));
  const held = own.filter((r) => r.holds).length;
  document.getElementById('verdict').textContent = `${held} of ${own.length} claims hold.`;
}

claims();
grid('hits-and-cost', 'Hits and cost');
capacity();
const axis = rows.filter((r) => r.experiment === 'load-axis' && r.metric === 'slo_hit_rate');
for (const title of unique(axis.map((r) => r.setting.split('/load=')[0]))) {
  curves(title, axis.filter((r) => r.setting.startsWith(`${title}/load=`)));
}
for (const sweep of ['arrivals', 'noise', 'transfer', 'price', 'k', 'group', 'containers', 'ablations', 'orion', 'orion-search']) {
  grid(sweep, `Sweep: ${sweep}`);
}
