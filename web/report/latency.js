// Latency curves, where time goes, and why requests were late.
let cdf_application = -1;
function curve(s) {
  const shares = cdf_application < 0 ? s.shares : [s.shares[cdf_application]];
  const total = shares.reduce((n, a) => n + a.ends.reduce((x, y) => x + y, 0), 0);
  const last = Math.max(0, ...shares.map(a => a.first + a.counts.length));
  const counts = new Array(last + 1).fill(0);
  for (const a of shares)
    a.counts.forEach((n, i) => {
      counts[a.first + i] += n;
    });
  let seen = 0;
  return {total, at: counts.map(n => (seen += n) / Math.max(1, total))}; // at[i]: share of requests within (i + 1) bins
}
const within = (c, x) => {
  const bin = Math.floor(x * data.bins_per_objective + 1e-9) - 1;
  return bin < 0 ? 0 : c.at[Math.min(bin, c.at.length - 1)] || 0;
};
function cdf() {
  const node = $('cdf'),
    width = node.clientWidth || 1000,
    height = 330,
    left = 52,
    right = 20,
    top = 14,
    bottom = 40;
  const curves = schedulers.map(curve),
    n = data.bins_per_objective;
  let low = Infinity,
    high = 1.05;
  for (const c of curves) {
    const end = c.at[c.at.length - 1] || 0;
    const first = c.at.findIndex(v => v > 0.0005);
    if (first >= 0) low = Math.min(low, first / n);
    const far = c.at.findIndex(v => v >= end * 0.998);
    high = Math.max(high, Math.min(2, (far + 2) / n)); // a scheduler that fell behind must not press the others flat
  }
  low = Math.max(0, Math.min(low, 0.95) - 0.02);
  if (low < 0.25) low = 0;
  high += (high - low) * 0.02;
  const x = v => left + ((width - left - right) * (v - low)) / (high - low),
    y = v => top + (height - top - bottom) * (1 - v);
  const svg = el('svg', {
    height,
    role: 'img',
    'aria-label':
      'Cumulative latency as a share of the objective: ' +
      schedulers.map((s, i) => `${s.name} ${percent(within(curves[i], 1))} within it`).join(', ')
  });
  svg.append(
    el('rect', {
      x: x(1),
      y: top,
      width: Math.max(0, x(high) - x(1)),
      height: height - top - bottom,
      fill: 'var(--late-ground)'
    })
  );
  for (const t of [0, 0.25, 0.5, 0.75, 1])
    svg.append(
      el('line', {x1: left, x2: width - right, y1: y(t), y2: y(t), stroke: 'var(--line)'}),
      el('text', {x: left - 8, y: y(t) + 4, 'text-anchor': 'end', class: 'muted'}, `${t * 100} %`)
    );
  for (const t of ticks(low, high, Math.min(10, width / 90)))
    svg.append(
      el('text', {x: x(t), y: height - bottom + 18, 'text-anchor': 'middle', class: 'muted'}, String(+t.toFixed(3)))
    );
  svg.append(
    el(
      'text',
      {x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle', class: 'muted'},
      'latency ÷ objective'
    )
  );
  svg.append(
    el('line', {x1: x(1), x2: x(1), y1: top - 6, y2: height - bottom, stroke: 'var(--late)', 'stroke-width': 2}),
    el('text', {x: x(1) + 6, y: height - bottom - 8, style: 'fill:var(--late)'}, 'late')
  );
  curves.forEach((c, i) => {
    let d = `M${x(low)} ${y(within(c, low))}`;
    for (let b = Math.ceil(low * n); b <= high * n; b++)
      d += `L${x(b / n).toFixed(1)} ${y(within(c, b / n)).toFixed(1)}`;
    svg.append(
      el('path', {
        d,
        fill: 'none',
        stroke: line_of(i)[0],
        'stroke-width': 2.5,
        'stroke-dasharray': line_of(i)[1] || null,
        'stroke-linejoin': 'round'
      })
    );
  });
  const guide = el('line', {
    y1: top,
    y2: height - bottom,
    stroke: 'var(--muted)',
    'stroke-dasharray': '3 3',
    visibility: 'hidden'
  });
  svg.append(
    guide,
    el('rect', {
      x: left,
      y: top,
      width: width - left - right,
      height: height - top - bottom,
      fill: 'transparent',
      onmousemove: e => {
        const box = svg.getBoundingClientRect(),
          v = low + ((high - low) * (e.clientX - box.left - left)) / (width - left - right);
        guide.setAttribute('x1', x(v));
        guide.setAttribute('x2', x(v));
        guide.setAttribute('visibility', 'visible');
        show_tip(
          e,
          `within ${fixed(v, 2)} × the objective\n` +
            schedulers.map((s, i) => `${s.name}: ${percent(within(curves[i], v))}`).join('\n')
        );
      },
      onmouseleave: () => {
        guide.setAttribute('visibility', 'hidden');
        hide_tip();
      }
    })
  );
  const legend = el(
    'div',
    {class: 'legend'},
    schedulers.map((s, i) =>
      el(
        'span',
        {},
        el(
          'svg',
          {width: 34, height: 10, style: 'width:34px'},
          el('line', {
            x1: 0,
            x2: 34,
            y1: 5,
            y2: 5,
            stroke: line_of(i)[0],
            'stroke-width': 3,
            'stroke-dasharray': line_of(i)[1] || null
          })
        ),
        `${s.name}: ${percent(within(curves[i], 1))} in time`
      )
    )
  );
  fill(node, legend, svg);
  const pick = el(
    'select',
    {
      id: 'cdf-application',
      onchange: e => {
        cdf_application = Number(e.target.value);
        cdf();
      }
    },
    [-1, ...data.applications.keys()].map(a =>
      el(
        'option',
        {value: a, selected: a === cdf_application ? '' : null},
        a < 0 ? 'all applications' : data.applications[a]
      )
    )
  );
  const objective =
    cdf_application < 0 ? '' : `objective ${fixed(schedulers[0].shares[cdf_application].objective_ms, 0)} ms`;
  fill(
    $('cdf-controls'),
    el('label', {for: 'cdf-application'}, 'Application'),
    pick,
    el('span', {class: 'muted'}, objective)
  );
}
const phase_legend = phases =>
  el(
    'div',
    {class: 'legend'},
    phases.map(p => el('span', {}, el('i', {class: 'key', style: `background:var(--${p})`}), PHASE_TEXT[p]))
  );
function times() {
  const shown = PHASES.filter(p => schedulers.some(s => per_request(s, p) > 0.05));
  const totals = schedulers.map(s => shown.reduce((n, p) => n + per_request(s, p), 0)),
    most = Math.max(...totals, 1e-9);
  fill(
    $('times'),
    schedulers.map((s, i) =>
      el(
        'div',
        {style: 'margin-bottom:10px'},
        el(
          'div',
          {style: 'display:flex;justify-content:space-between', class: 'small'},
          el('strong', {}, s.name),
          el(
            'span',
            {},
            shown
              .filter(p => p !== 'deciding')
              .map(p => `${p} ${fixed(per_request(s, p), 0)}`)
              .join(', ') + ' ms'
          )
        ),
        el(
          'div',
          {class: 'bar', style: `width:${(100 * totals[i]) / most}%`},
          shown.map(p =>
            el('i', {
              style: `width:${(100 * per_request(s, p)) / Math.max(totals[i], 1e-9)}%;background:var(--${p})`,
              ...tipped(`${PHASE_TEXT[p]}: ${fixed(per_request(s, p), 1)} ms a request`)
            })
          )
        )
      )
    ),
    phase_legend(shown)
  );
}
// The invocations that made the request as long as it was, last first: each began when the one before it ended.
function critical(r) {
  const path = [];
  let part = r.parts
    .filter(p => p.action.finish <= r.arrival + r.latency + 2)
    .reduce((b, p) => (!b || p.action.finish > b.action.finish ? p : b), null);
  while (part) {
    path.unshift(part);
    const begin = part.ready;
    part = r.parts
      .filter(p => !path.includes(p) && p.action.finish <= begin + 2)
      .reduce((b, p) => (!b || p.action.finish > b.action.finish ? p : b), null);
  }
  return path;
}
function spent(r) {
  const sum = {waiting: 0, deciding: 0, loading: 0, transfer: 0, execution: 0, over: 0, longest: null};
  for (const p of critical(r)) {
    const a = p.action,
      waited = a.decided - p.ready;
    sum.waiting += waited;
    sum.deciding += a.deciding;
    sum.loading += a.loading;
    sum.transfer += a.transfer;
    sum.execution += a.measured;
    sum.over += a.measured - a.expected;
    if (!sum.longest || waited > sum.longest.waited) sum.longest = {waited, stage: a.stage[1]};
  }
  return sum;
}
const CAUSES = {waiting: 'waiting', loading: 'loading', slower: 'slower than planned', plan: 'the plan'};
// The largest part of the delay, and whether the request would have been in time without it.
function cause(r) {
  const s = spent(r),
    parts = {
      waiting: s.waiting,
      loading: s.loading,
      slower: s.over,
      plan: s.execution - s.over + s.transfer + s.deciding - r.objective
    };
  const name = Object.keys(parts).reduce((most, p) => (parts[p] > parts[most] ? p : most));
  return {name, alone: parts[name] >= r.latency - r.objective};
}
function cause_text(r) {
  const {name, alone} = cause(r);
  return {
    waiting: alone ? 'Without the waiting it would have been in time.' : 'Waiting is the largest part of the delay.',
    loading: alone ? 'With loaded models it would have been in time.' : 'Loading is the largest part of the delay.',
    slower: alone
      ? 'Executed as planned it would have been in time.'
      : 'Slow execution is the largest part of the delay.',
    plan: 'Even as planned and without waiting it would have been late: these configurations are too slow for the objective.'
  }[name];
}
function causes() {
  const counts = schedulers.map(s => {
    const n = {};
    for (const r of s.list)
      if (r.ending === 'late') {
        const {name} = cause(r);
        n[name] = (n[name] || 0) + 1;
      }
    return n;
  });
  const shown = Object.keys(CAUSES).filter(c => counts.some(n => n[c]));
  $('causes-where').textContent = `(of the ${group(schedulers[0].list.length)} requests of the closer look)`;
  if (shown.length === 0) {
    fill($('causes'));
    $('causes-text').textContent = 'None of them was late under any scheduler.';
    return;
  }
  fill(
    $('causes'),
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('th', {scope: 'col'}, 'scheduler'),
        el('th', {scope: 'col'}, 'late'),
        shown.map(c => el('th', {scope: 'col'}, CAUSES[c]))
      )
    ),
    el(
      'tbody',
      {},
      schedulers.map((s, i) =>
        el(
          'tr',
          {},
          el('th', {scope: 'row'}, s.name),
          el('td', {}, group(s.list.filter(r => r.ending === 'late').length)),
          shown.map(c => el('td', {}, group(counts[i][c] || 0)))
        )
      )
    )
  );
  $('causes-text').textContent =
    'Counted by the largest part of the delay: waiting in queues, execution that took longer than its profile says, or a plan that was too slow from the start.';
}
