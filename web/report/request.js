// One request against its deadline, and the list of those worth a look.
let look = Math.max(0, winner.index),
  selected = null,
  selected_action = null;
const lateness = r => r.latency / r.objective - 1;
function standing(r) {
  if (r.ending === 'late') return `late by ${ms(r.latency - r.objective)}`;
  if (r.ending === 'met') return `met, ${ms(r.objective - r.latency)} to spare`;
  return r.ending + (r.reason ? ` (${String(r.reason).replaceAll('_', ' ')})` : '');
}
function interesting(s) {
  const done = s.list.filter(finished).sort((a, b) => lateness(b) - lateness(a) || a.id - b.id);
  const lost = s.list.filter(r => !finished(r));
  const misses = done.filter(r => r.ending === 'late'),
    middle = Math.floor(done.length / 2);
  const out = [];
  if (misses.length) out.push([`Latest (of ${plural(misses.length, 'miss', 'misses')})`, misses.slice(0, 25)]);
  else out.push(['Closest to the deadline', done.slice(0, 12)]);
  if (lost.length) out.push(['Rejected, failed, cancelled', lost.slice(0, 8)]);
  out.push(['Median', done.slice(Math.max(0, middle - 1), middle + 2)]);
  out.push(['Fastest', done.slice(-3).reverse()]);
  return out;
}
function list() {
  const s = schedulers[look];
  fill(
    $('list'),
    interesting(s)
      .map(([title, requests]) => [
        el('h3', {}, title),
        requests.map(r =>
          el(
            'button',
            {type: 'button', 'data-request': r.id, 'aria-current': String(r === selected), onclick: () => select(r)},
            el('span', {}, `#${r.id}`),
            el('span', {}, data.applications[r.app]),
            el(
              'span',
              {class: r.ending === 'met' ? null : 'late'},
              finished(r) ? `${lateness(r) > 0 ? '+' : '−'}${fixed(Math.abs(lateness(r)) * 100, 1)} %` : r.ending
            )
          )
        )
      ])
      .flat()
  );
}
const waiting_text = s =>
  s.longest.waited > 0.95 * s.waiting
    ? `waiting for ${s.longest.stage}`
    : s.longest.waited > 0.5 * s.waiting
      ? `waiting (${ms(s.longest.waited)} of it for ${s.longest.stage})`
      : 'waiting';
function tell(r) {
  const s = spent(r),
    pieces = [];
  if (!finished(r)) return `Request ${r.id} of ${data.applications[r.app]} was ${standing(r)} after ${ms(r.latency)}.`;
  for (const p of ['execution', 'waiting', 'loading', 'transfer'])
    if (s[p] >= 500)
      pieces.push([
        s[p],
        `${ms(s[p])} ${p === 'execution' ? 'executing' : p === 'waiting' ? waiting_text(s) : p === 'loading' ? 'loading models' : 'moving inputs'}`
      ]);
  pieces.sort((a, b) => b[0] - a[0]);
  const over =
    Math.abs(s.over) < 1000
      ? 'just as planned'
      : `${ms(Math.abs(s.over))} ${s.over > 0 ? 'longer' : 'shorter'} than planned`;
  return `It took ${ms(r.latency)}, its objective is ${ms(r.objective)}: ${pieces.map(p => p[1]).join(', ')}. Execution took ${over}.${r.ending === 'late' ? ' ' + cause_text(r) : ''}`;
}
function config(a) {
  return `batch ${a.batch}, ${plural(a.vcpu, 'vCPU', 'vCPUs')}, ${a.vgpu ? plural(a.vgpu, 'slice', 'slices') : 'no GPU'}`;
}
function part_tip(r, p, phase, length) {
  const a = p.action;
  return (
    `${a.stage[1]}: ${PHASE_TEXT[phase]}, ${ms(length)}\n${config(a)}\n${a.members.length === 1 ? 'alone in its batch' : plural(a.members.length - 1, 'batch mate', 'batch mates')} · invoker ${a.invoker}${a.slices.length ? `, GPU ${a.gpu}` : ''}` +
    (phase === 'execution' ? `\nplanned ${ms(a.expected)}, took ${ms(a.measured)}` : '') +
    (a.end ? '\nthis attempt was lost' : '')
  );
}
function gantt(node, r) {
  const width = Math.max(360, node.clientWidth || 800),
    row = 34,
    top = 26,
    names = r.parts.map(p => p.action.stage[1]);
  const left = Math.min(210, 14 + 7.4 * Math.max(6, ...names.map(n => n.length))),
    right = 14;
  const end = Math.max(r.latency, r.objective) * 1.06,
    x = t => left + ((width - left - right) * t) / end;
  const bottom = top + r.parts.length * row;
  const svg = el('svg', {
    height: bottom + 34,
    role: 'img',
    'aria-label': `Stages of request ${r.id} against its deadline; ${standing(r)}`
  });
  svg.append(
    el('rect', {
      x: x(r.objective),
      y: top - 6,
      width: Math.max(0, width - right - x(r.objective)),
      height: bottom - top + 6,
      fill: 'var(--late-ground)'
    })
  );
  for (const t of ticks(0, end / 1000, Math.max(3, width / 130)))
    svg.append(
      el('line', {x1: x(t * 1000), x2: x(t * 1000), y1: top - 6, y2: bottom, stroke: 'var(--line)'}),
      el('text', {x: x(t * 1000), y: bottom + 18, 'text-anchor': 'middle', class: 'muted'}, group(t))
    );
  svg.append(el('text', {x: 0, y: bottom + 18, class: 'muted'}, 'ms after arrival'));
  r.parts.forEach((p, i) => {
    const a = p.action,
      y = top + i * row + 6;
    svg.append(
      el(
        'text',
        {x: 0, y: y + 16},
        names[i].length * 7.4 > left - 8 ? names[i].slice(0, Math.floor((left - 16) / 7.4)) + '…' : names[i]
      )
    );
    let at = p.ready - r.arrival;
    const bar = el('g', {style: 'cursor:pointer', opacity: a.end ? 0.45 : null, onclick: () => select_action(a)});
    for (const [phase, length] of [
      ['waiting', a.decided - p.ready],
      ['deciding', a.deciding],
      ['loading', a.loading],
      ['transfer', a.transfer],
      ['execution', a.measured]
    ]) {
      if (length > 0)
        bar.append(
          el('rect', {
            x: x(at),
            y,
            width: Math.max(0.8, x(at + length) - x(at)),
            height: 22,
            fill: `var(--${phase})`,
            ...tipped(part_tip(r, p, phase, length))
          })
        );
      at += length;
    }
    const planned = x(at - a.measured + a.expected);
    if (Math.abs(a.measured - a.expected) > 1000)
      bar.append(
        el('path', {
          d: `M${planned} ${y - 3}v28`,
          stroke: 'var(--ink)',
          'stroke-width': 2,
          ...tipped(`${a.stage[1]}: planned to end here`)
        })
      );
    const from = x(a.decided - r.arrival),
      label = `${a.batch} · ${a.vcpu} · ${a.vgpu}`;
    if (x(at) - from > 100)
      bar.append(
        el('text', {x: x(at - a.measured) + 8, y: y + 15, style: 'fill:#fff;font-size:12px;pointer-events:none'}, label)
      );
    if (a === selected_action)
      bar.append(
        el('rect', {
          x: x(p.ready - r.arrival) - 2,
          y: y - 2,
          width: x(at) - x(p.ready - r.arrival) + 4,
          height: 26,
          fill: 'none',
          stroke: 'var(--ink)',
          'stroke-width': 2,
          rx: 3
        })
      );
    svg.append(bar);
  });
  svg.append(
    el('line', {
      x1: x(r.objective),
      x2: x(r.objective),
      y1: top - 10,
      y2: bottom,
      stroke: 'var(--late)',
      'stroke-width': 2
    }),
    el(
      'text',
      {x: x(r.objective) - 6, y: 12, 'text-anchor': 'end', style: 'fill:var(--late)'},
      `deadline, ${ms(r.objective)}`
    )
  );
  fill(node, svg);
}
function show_request() {
  const node = $('request'),
    r = selected;
  if (!r) return fill(node, el('p', {class: 'muted'}, 'No request of this scheduler was answered here.'));
  const s = schedulers[look],
    at = s.list.indexOf(r),
    chart = el('div');
  const others = schedulers
    .filter(o => o !== s && o.by_id.has(r.id))
    .map(o => {
      const twin = o.by_id.get(r.id);
      return el(
        'button',
        {
          type: 'button',
          onclick: () => {
            look = o.index;
            controls();
            select(twin);
          }
        },
        `${o.name}: `,
        el('span', {class: twin.ending === 'met' ? null : 'late'}, standing(twin))
      );
    });
  fill(
    node,
    el(
      'div',
      {class: 'controls'},
      el('strong', {style: 'font-size:17px'}, `Request ${r.id}`),
      el('span', {class: 'muted'}, data.applications[r.app]),
      el('span', {class: r.ending === 'met' ? null : 'late'}, standing(r)),
      el(
        'span',
        {class: 'group', style: 'margin-left:auto'},
        el(
          'button',
          {type: 'button', disabled: at <= 0 ? '' : null, onclick: () => select(s.list[at - 1])},
          'Previous'
        ),
        el(
          'button',
          {type: 'button', disabled: at + 1 >= s.list.length ? '' : null, onclick: () => select(s.list[at + 1])},
          'Next'
        )
      )
    ),
    el('p', {class: 'told', id: 'told'}, tell(r)),
    chart,
    el(
      'div',
      {class: 'controls', style: 'margin:2px 0 0;justify-content:space-between'},
      phase_legend(
        PHASES.filter(
          p => p === 'waiting' || p === 'execution' || p === 'transfer' || r.parts.some(q => q.action[p] > 500)
        )
      ),
      el(
        'span',
        {class: 'small muted'},
        `in a bar: batch · vCPUs · slices; dark tick: planned end; a million such requests cost ${dollars(r.cost)}`
      )
    ),
    others.length
      ? el(
          'div',
          {class: 'controls', style: 'margin:10px 0 0'},
          el('span', {class: 'muted'}, 'The same request under'),
          others
        )
      : null
  );
  gantt(chart, r);
}
function select(r, keep_view) {
  selected = r;
  if (!r || !selected_action || !r.parts.some(p => p.action === selected_action)) selected_action = null;
  for (const b of $('list').querySelectorAll('button'))
    b.setAttribute('aria-current', String(r && Number(b.dataset.request) === r.id));
  if (r) history.replaceState(null, '', `#scheduler=${encodeURIComponent(schedulers[look].name)}&request=${r.id}`);
  show_request();
  if (r && !keep_view) reveal(r);
  show_batch();
  draw();
}
function select_action(a, member) {
  selected_action = a;
  const r =
    member ||
    (
      a.members.find(m => m.request === selected) ||
      a.members.find(m => m.request && m.request.ending === 'late') ||
      a.members.find(m => m.request) ||
      {}
    ).request;
  if (r) select(r, true);
  else {
    show_batch();
    draw();
  }
}
function go_to(name, id) {
  const s = schedulers.find(o => o.name === name) || schedulers[look];
  look = s.index;
  const first =
    interesting(s)
      .map(g => g[1])
      .flat()[0] || null;
  controls();
  select(s.by_id.get(id) || first);
}
function controls() {
  const pick = i => {
    const id = selected ? selected.id : null;
    look = i;
    controls();
    const s = schedulers[look];
    select(s.by_id.get(id) || s.list[0] || null);
  };
  const worst = i => {
    look = i;
    controls();
    select(
      interesting(schedulers[i])
        .map(g => g[1])
        .flat()[0] || null
    );
  };
  const jump = el('input', {
    type: 'number',
    id: 'jump',
    style: 'width:7.5em',
    min: schedulers[look].list.length ? schedulers[look].list[0].id : 0,
    placeholder: 'number',
    onchange: e => {
      const r = schedulers[look].by_id.get(Number(e.target.value));
      if (r) select(r);
    }
  });
  fill(
    $('look-controls'),
    el('span', {}, 'Scheduler'),
    choice(
      schedulers.map(s => s.name),
      look,
      worst
    ),
    el('label', {for: 'jump'}, 'Go to request'),
    jump
  );
  fill(
    $('slice-controls'),
    el('span', {}, 'Scheduler'),
    choice(
      schedulers.map(s => s.name),
      look,
      pick
    ),
    el('span', {}, 'Colours'),
    choice(['application', 'function'], colour_by, i => {
      colour_by = i;
      controls();
      draw();
    }),
    el('span', {}, 'Rows'),
    choice(['all', 'tall'], tall_rows, i => {
      tall_rows = i;
      controls();
      if (selected) reveal(selected);
      draw();
    }),
    el(
      'span',
      {class: 'group', style: 'margin-left:auto'},
      el('button', {type: 'button', 'aria-label': 'Zoom out', onclick: () => zoom(1.6)}, '−'),
      el('button', {type: 'button', 'aria-label': 'Zoom in', onclick: () => zoom(1 / 1.6)}, '+'),
      el(
        'button',
        {
          type: 'button',
          onclick: () => {
            view_all();
            draw();
          }
        },
        'All'
      ),
      el(
        'button',
        {
          type: 'button',
          onclick: () => {
            if (selected) reveal(selected, true);
            draw();
          }
        },
        'To the request'
      )
    )
  );
  lay_out();
  list();
  legend();
}
function window_text() {
  const s = schedulers[0],
    n = s.list.length;
  if (!n) return 'No request was answered after the warm-up.';
  const ids = [...new Set(schedulers.flatMap(o => [o.list[0]?.id, o.list[o.list.length - 1]?.id]))].filter(
    i => i !== undefined
  );
  const outside = schedulers
    .filter(o => o.slowest[1] > 0 && !o.by_id.has(o.slowest[0]))
    .map(o => `${o.name}: request ${o.slowest[0]}, ${fixed(o.slowest[1], 2)} × its objective`);
  return (
    `The closer look below is of requests ${group(Math.min(...ids))} to ${group(Math.max(...ids))}, seed ${data.seed}, ` +
    (outside.length
      ? `chosen to show misses of all schedulers; the slowest of all lies outside (${outside.join('; ')}). `
      : 'chosen because the slowest request of every scheduler is among them. ') +
    'Above, figures and curves are of all requests after the warm-up.'
  );
}
