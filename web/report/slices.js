// The slices of every GPU over time, drawn on a canvas: only what is visible, once a frame.
let colour_by = 0,
  tall_rows = 0,
  rows = [],
  row_height = 6,
  total_height = 0,
  from = 0,
  to = 1,
  offset = 0,
  waiting_frame = false;
const canvas = $('slices'),
  GUTTER = 92,
  AXIS = 24,
  CPU_ROWS = 6;
const span_of = () => schedulers.reduce((m, s) => s.actions.reduce((n, a) => Math.max(n, a.finish), m), 1000);
const span = span_of();
// A row for every slice, some for batches without a GPU; machines without either have none.
function lay_out() {
  const s = schedulers[look],
    cpu = new Map();
  for (const a of s.actions) {
    if (a.slices.length) continue;
    const lanes = cpu.get(a.invoker) || cpu.set(a.invoker, []).get(a.invoker);
    let lane = lanes.findIndex(end => end <= a.begin);
    if (lane < 0) lane = lanes.length < CPU_ROWS ? lanes.length : lanes.indexOf(Math.min(...lanes));
    lanes[lane] = a.finish;
    a.lane = lane;
  }
  rows = [];
  let machine = 0,
    count = 0;
  const groups = [];
  for (const [machines, gpus, slices] of data.machines)
    for (let i = 0; i < machines; i++, machine++) {
      for (let g = 0; g < gpus; g++)
        groups.push({machine, gpu: g, slices, label: gpus > 1 ? `inv ${machine} gpu ${g}` : `invoker ${machine}`});
      if (cpu.has(machine))
        groups.push({machine, gpu: -1, slices: cpu.get(machine).length, label: `inv ${machine} cpu`});
    }
  for (const g of groups) count += g.slices;
  row_height = tall_rows ? 18 : Math.max(6, Math.min(18, Math.floor((640 - groups.length * 3) / Math.max(1, count))));
  let y = 0;
  for (const g of groups) {
    g.y = y;
    g.height = g.slices * row_height;
    y += g.height + 3;
  }
  rows = groups;
  total_height = y;
  const height = Math.min(760, Math.max(120, total_height + AXIS + 4));
  canvas.style.height = height + 'px';
  offset = Math.max(0, Math.min(offset, total_height - (height - AXIS)));
  groups_of.clear();
  for (const g of groups) groups_of.set(g.machine * 128 + g.gpu + 1, g);
}
const groups_of = new Map();
const boxes = a => {
  const g = groups_of.get(a.invoker * 128 + (a.slices.length ? a.gpu : -1) + 1);
  if (!g) return [];
  if (!a.slices.length) return [[g.y + (a.lane || 0) * row_height, row_height]];
  const out = [];
  for (let i = 0; i < a.slices.length; i += 2) out.push([g.y + a.slices[i] * row_height, a.slices[i + 1] * row_height]);
  return out;
};
const colours = () =>
  colour_by === 0 ? data.applications : [...new Set(schedulers.flatMap(s => s.window.stages.map(t => t[2])))].sort();
const colour_index = a => (colour_by === 0 ? a.stage[0] : colours_cache.indexOf(a.stage[2]));
let colours_cache = [];
function legend() {
  colours_cache = colours();
  fill(
    $('slice-legend'),
    colours_cache.map((name, i) => el('span', {}, el('i', {class: 'key', style: `background:${fill_of(i)}`}), name)),
    el(
      'span',
      {},
      el('i', {
        class: 'key',
        style:
          'background:repeating-linear-gradient(45deg,var(--ink) 0 2px,transparent 2px 5px);border-top:3px solid var(--late)'
      }),
      'a member was late'
    )
  );
}
function view_all() {
  from = 0;
  to = span;
  offset = 0;
}
function reveal(r, always) {
  const begin = r.arrival,
    end = r.arrival + r.latency,
    width = Math.max(1, end - begin);
  if (always || begin < from || end > to || to - from > 8 * width) {
    from = begin - 0.35 * width;
    to = end + 0.35 * width;
  }
  const first = r.parts[0];
  if (first) {
    const box = boxes(first.action)[0],
      room = canvas.clientHeight - AXIS;
    if (box && (box[0] < offset || box[0] > offset + room))
      offset = Math.max(0, Math.min(total_height - room, box[0] - room / 2));
  }
}
function zoom(factor, at) {
  const middle = at === undefined ? (from + to) / 2 : at,
    wide = Math.max(500, Math.min(span * 1.2, (to - from) * factor));
  const share = (middle - from) / (to - from);
  from = middle - share * wide;
  to = from + wide;
  draw();
}
function visible() {
  const list = schedulers[look].actions,
    earliest = from - schedulers[look].longest;
  let low = 0,
    high = list.length;
  while (low < high) {
    const m = (low + high) >> 1;
    if (list[m].begin < earliest) low = m + 1;
    else high = m;
  }
  const out = [];
  for (let i = low; i < list.length && list[i].begin <= to; i++) if (list[i].finish >= from) out.push(list[i]);
  return out;
}
function hatch(context) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const t = tile.getContext('2d');
  t.strokeStyle = 'rgba(0,0,0,.6)';
  t.lineWidth = 1.2;
  t.beginPath();
  for (const d of [-6, 0, 6]) {
    t.moveTo(d, 6);
    t.lineTo(d + 6, 0);
  }
  t.stroke();
  return context.createPattern(tile, 'repeat');
}
const widths = new Map(); // of labels: measuring them is slow, and they repeat
function text_width(context, text) {
  if (!widths.has(text)) widths.set(text, context.measureText(text).width);
  return widths.get(text);
}
function draw() {
  if (waiting_frame) return;
  waiting_frame = true;
  requestAnimationFrame(() => {
    waiting_frame = false;
    paint();
  });
}
function paint() {
  const width = canvas.clientWidth,
    height = canvas.clientHeight,
    ratio = devicePixelRatio || 1;
  if (!width) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const c = canvas.getContext('2d'),
    ink = css('--ink'),
    muted = css('--muted'),
    late = css('--late'),
    lines = css('--line');
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = css('--panel');
  c.fillRect(0, 0, width, height);
  c.font = '12px system-ui, sans-serif';
  c.textBaseline = 'middle';
  const x = t => GUTTER + ((width - GUTTER) * (t - from)) / (to - from),
    y = v => AXIS + v - offset;
  const idle = css('--idle');
  for (const g of rows) {
    if (y(g.y + g.height) < AXIS || y(g.y) > height) continue;
    c.fillStyle = idle;
    c.fillRect(GUTTER, y(g.y), width - GUTTER, g.height - 0.5);
    c.fillStyle = muted;
    if (g.height >= 12) c.fillText(g.label, 8, y(g.y + g.height / 2));
  }
  const pattern = hatch(c),
    highlighted = [];
  c.save();
  c.beginPath();
  c.rect(GUTTER, AXIS, width - GUTTER, height - AXIS);
  c.clip();
  for (const a of visible()) {
    const x0 = Math.max(GUTTER - 4, x(a.begin)),
      x1 = Math.min(width + 4, x(a.finish)),
      run = x(a.finish - a.measured);
    const mine = selected && a.members.some(m => m.request === selected),
      colour = a.kind === 0 ? fill_of(colour_index(a)) : css('--loading');
    for (const [top, tall] of boxes(a)) {
      const y0 = y(top);
      if (y0 + tall < AXIS || y0 > height) continue;
      const w = Math.max(0.7, x1 - x0),
        h = tall - (tall > 6 ? 1 : 0.4);
      c.fillStyle = colour;
      c.globalAlpha = a.end ? 0.3 : 1;
      c.fillRect(x0, y0, w, h);
      c.globalAlpha = 1;
      if (run - x0 > 1) {
        c.fillStyle = dark() ? 'rgba(0,0,0,.45)' : 'rgba(255,255,255,.62)';
        c.fillRect(x0, y0, Math.min(w, run - x0), h);
      }
      if (a.late) {
        if (w > 5) {
          c.fillStyle = pattern;
          c.fillRect(x0, y0, w, h);
        }
        c.fillStyle = late;
        c.fillRect(x0, y0, w, Math.min(2.5, h / 2));
      }
      if (w > 46 && h >= 11) {
        const text = `${a.stage[1]} ×${a.members.length}`,
          wide = text_width(c, text),
          room = w - 8;
        const shown =
          wide <= room ? text : text.slice(0, Math.max(0, Math.floor((text.length * room) / wide) - 1)) + '…';
        if (a.late) {
          c.fillStyle = colour;
          c.fillRect(x0 + 2, y0 + h / 2 - 7, Math.min(w - 4, wide + 5), 14);
        }
        c.fillStyle = colour === '#0072b2' ? '#fff' : '#14181d';
        c.fillText(shown, x0 + 4, y0 + h / 2 + 0.5);
      }
      if (mine || a === selected_action) highlighted.push([x0, y0, w, h, a === selected_action]);
    }
  }
  for (const [x0, y0, w, h, strong] of highlighted) {
    c.lineWidth = strong ? 3 : 2;
    c.strokeStyle = ink;
    c.strokeRect(x0 - 1, y0 - 1, w + 2, h + 2);
  }
  if (selected) {
    for (const [t, colour] of [
      [selected.arrival, ink],
      [selected.arrival + selected.objective, late]
    ]) {
      c.strokeStyle = colour;
      c.lineWidth = 1.5;
      c.setLineDash([5, 4]);
      c.beginPath();
      c.moveTo(x(t), AXIS);
      c.lineTo(x(t), height);
      c.stroke();
      c.setLineDash([]);
    }
  }
  c.restore();
  c.fillStyle = css('--panel');
  c.fillRect(0, 0, width, AXIS);
  c.strokeStyle = lines;
  c.lineWidth = 1;
  c.textAlign = 'center';
  const scale = to - from < 3e6 ? 1e3 : 1e6,
    base = data.origin_ms * 1e3; // ms or s
  for (const t of ticks((base + from) / scale, (base + to) / scale, Math.max(3, (width - GUTTER) / 130))) {
    const at = x(t * scale - base);
    if (at < GUTTER + 20 || at > width - 20) continue;
    c.beginPath();
    c.moveTo(at, AXIS - 5);
    c.lineTo(at, AXIS);
    c.stroke();
    c.fillStyle = muted;
    c.fillText(fixed(t, scale === 1e6 && to - from < 2e7 ? 1 : 0) + (scale === 1e3 ? ' ms' : ' s'), at, 10);
  }
  c.textAlign = 'left';
  if (selected) {
    c.fillStyle = ink;
    const at = x(selected.arrival);
    if (at > GUTTER && at < width - 60) {
      c.beginPath();
      c.moveTo(at - 5, AXIS - 7);
      c.lineTo(at + 5, AXIS - 7);
      c.lineTo(at, AXIS);
      c.fill();
    }
    c.fillStyle = late;
    const dead = x(selected.arrival + selected.objective);
    if (dead > GUTTER && dead < width - 10) {
      c.beginPath();
      c.moveTo(dead - 5, AXIS - 7);
      c.lineTo(dead + 5, AXIS - 7);
      c.lineTo(dead, AXIS);
      c.fill();
    }
  }
  canvas.dataset.drawn = String(visible().length);
}
function hit(event) {
  const box = canvas.getBoundingClientRect(),
    px = event.clientX - box.left,
    py = event.clientY - box.top;
  if (px < GUTTER || py < AXIS) return null;
  const t = from + ((to - from) * (px - GUTTER)) / (box.width - GUTTER),
    v = py - AXIS + offset,
    slack = (2 * (to - from)) / box.width;
  return (
    visible().find(
      a => a.begin - slack <= t && t <= a.finish + slack && boxes(a).some(([y, h]) => y <= v && v < y + h)
    ) || null
  );
}
function show_batch() {
  const a = selected_action;
  if (!a)
    return fill(
      $('batch'),
      el(
        'p',
        {class: 'muted'},
        'Click a batch to see its configuration and its requests. The outlined ones are of the request above; the triangles and dashed lines are its arrival and its deadline.'
      )
    );
  const slices = [];
  for (let i = 0; i < a.slices.length; i += 2)
    slices.push(a.slices[i + 1] > 1 ? `${a.slices[i]}–${a.slices[i] + a.slices[i + 1] - 1}` : a.slices[i]);
  const fact = (name, value) => el('div', {}, el('dt', {}, name), el('dd', {}, value));
  const deviation = a.expected ? (a.measured / a.expected - 1) * 100 : 0;
  fill(
    $('batch'),
    el(
      'h3',
      {},
      a.kind === 0
        ? `Batch ${a.id}: ${a.stage[1]} of ${data.applications[a.stage[0]]}`
        : `${a.kind === 1 ? 'Load' : 'Eviction'} of ${a.stage[2]}`
    ),
    el(
      'dl',
      {class: 'facts'},
      fact('configuration', config(a)),
      fact('place', `invoker ${a.invoker}${a.slices.length ? `, GPU ${a.gpu}, slice ${slices.join(', ')}` : ''}`),
      fact('oldest member waited', ms(Math.max(0, ...a.members.map(m => m.waited)))),
      fact('left in the queue', plural(a.queued, 'invocation', 'invocations')),
      fact('transfer', ms(a.transfer)),
      a.loading ? fact('loading', ms(a.loading)) : null,
      fact(
        'execution',
        `${ms(a.measured)} (planned ${ms(a.expected)}, ${deviation >= 0 ? '+' : '−'}${fixed(Math.abs(deviation), 1)} %)`
      ),
      a.end ? fact('outcome', ['', 'failed', 'lost with its machine'][a.end]) : null
    ),
    el(
      'p',
      {class: 'members', style: 'margin:10px 0 0'},
      `${plural(a.members.length, 'member', 'members')}: `,
      a.members.map(m =>
        m.request
          ? el(
              'button',
              {
                type: 'button',
                'aria-pressed': String(m.request === selected),
                onclick: () => select_action(a, m.request)
              },
              `#${m.id} ${m.request.ending}`
            )
          : el('span', {class: 'muted'}, `#${m.id} (outside) `)
      )
    )
  );
}
let drag = null;
canvas.addEventListener('pointerdown', e => {
  drag = {x: e.clientX, y: e.clientY, from, to, offset, moved: false};
  canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener('pointermove', e => {
  if (!drag) {
    const a = hit(e);
    canvas.style.cursor = a ? 'pointer' : '';
    return a
      ? show_tip(
          e,
          `${a.stage[1]} of ${data.applications[a.stage[0]]}\n${config(a)}; ${plural(a.members.length, 'request', 'requests')}\nplanned ${ms(a.expected)}, took ${ms(a.measured)}${a.late ? '\na member was late' : ''}`
        )
      : hide_tip();
  }
  const dx = e.clientX - drag.x,
    dy = e.clientY - drag.y;
  if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
  if (!drag.moved) return;
  hide_tip();
  canvas.classList.add('dragging');
  const t = (dx * (drag.to - drag.from)) / (canvas.clientWidth - GUTTER);
  from = drag.from - t;
  to = drag.to - t;
  offset = Math.max(0, Math.min(Math.max(0, total_height - (canvas.clientHeight - AXIS)), drag.offset - dy));
  draw();
});
canvas.addEventListener('pointerup', e => {
  if (drag && !drag.moved) {
    const a = hit(e);
    if (a) select_action(a);
  }
  drag = null;
  canvas.classList.remove('dragging');
});
canvas.addEventListener('pointercancel', () => {
  drag = null;
  canvas.classList.remove('dragging');
});
canvas.addEventListener('pointerleave', hide_tip);
// Only once it has the focus, so that the wheel still scrolls the page past it.
canvas.addEventListener(
  'wheel',
  e => {
    if (document.activeElement !== canvas && !e.ctrlKey) return;
    e.preventDefault();
    const box = canvas.getBoundingClientRect();
    hide_tip();
    zoom(
      Math.exp(Math.max(-0.5, Math.min(0.5, e.deltaY * 0.002))),
      from + ((to - from) * Math.max(0, e.clientX - box.left - GUTTER)) / (box.width - GUTTER)
    );
  },
  {passive: false}
);
canvas.addEventListener('keydown', e => {
  const step = (to - from) * 0.15,
    list = schedulers[look].actions;
  const move = t => {
    from += t;
    to += t;
    draw();
  };
  const next = d => {
    const at = selected_action ? list.indexOf(selected_action) : list.findIndex(a => a.begin >= from),
      a = list[Math.max(0, Math.min(list.length - 1, at + (selected_action ? d : 0)))];
    if (!a) return;
    if (a.begin < from || a.begin > to) {
      const wide = to - from;
      from = a.begin - wide / 3;
      to = from + wide;
    }
    select_action(a);
  };
  const keys = {
    ArrowLeft: () => move(-step),
    ArrowRight: () => move(step),
    ArrowUp: () => {
      offset = Math.max(0, offset - 40);
      draw();
    },
    ArrowDown: () => {
      offset = Math.max(0, Math.min(total_height - (canvas.clientHeight - AXIS), offset + 40));
      draw();
    },
    '+': () => zoom(1 / 1.6),
    '=': () => zoom(1 / 1.6),
    '-': () => zoom(1.6),
    0: () => {
      view_all();
      draw();
    },
    n: () => next(1),
    p: () => next(-1)
  };
  const act = keys[e.key] || keys[e.key.toLowerCase()];
  if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  act();
});
