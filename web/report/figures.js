// Hits, cost and the table of figures.
function bars(node, rows, high, describe) {
  const width = node.clientWidth || 500,
    left = Math.min(150, 16 + 7.6 * Math.max(...rows.map(r => r.name.length))),
    right = 118,
    row = 34;
  const x = v => left + (width - left - right) * Math.min(1, v / high);
  const svg = el('svg', {height: rows.length * row + 4, role: 'img', 'aria-label': describe});
  rows.forEach((r, i) => {
    const y = i * row + 4;
    svg.append(
      el('text', {x: 0, y: y + 17}, r.name),
      el('rect', {x: left, y, width: width - left - right, height: 24, rx: 4, fill: 'var(--soft)'}),
      el('rect', {
        x: left,
        y,
        width: Math.max(0, x(r.value) - left),
        height: 24,
        rx: 4,
        fill: r.colour,
        ...tipped(r.tip)
      }),
      el('text', {x: width - right + 10, y: y + 17, style: 'font-weight:600'}, r.text)
    );
    if (r.mark !== undefined)
      svg.append(
        el('line', {
          x1: x(r.mark),
          x2: x(r.mark),
          y1: y - 3,
          y2: y + 27,
          stroke: 'var(--ink)',
          'stroke-width': 3,
          ...tipped(r.mark_tip)
        })
      );
    if (r.half > 0) {
      const a = x(Math.max(0, r.value - r.half)),
        b = x(r.value + r.half);
      svg.append(
        el('path', {
          d: `M${a} ${y + 12}H${b}M${a} ${y + 7}v10M${b} ${y + 7}v10`,
          stroke: 'var(--ink)',
          'stroke-width': 1.5,
          fill: 'none'
        })
      );
    }
  });
  fill(node, svg);
}
function worst_application(s) {
  return s.applications
    .filter(a => a.requests > 0)
    .reduce((w, a) => (!w || a.met / a.requests < w.met / w.requests ? a : w), null);
}
function result() {
  bars(
    $('hits'),
    schedulers.map(s => {
      const w = worst_application(s),
        missed = s.requests - s.met;
      return {
        name: s.name,
        value: hits(s),
        half: half(s, 'slo_hit_rate'),
        colour: line_of(s.index)[0],
        text: percent(hits(s)),
        mark: s.slo_hit_rate_worst_application,
        tip: `${s.name}: ${group(s.met)} of ${group(s.requests)} met, ${group(missed)} missed\n${group(s.late)} late, ${group(s.rejected)} rejected, ${group(s.failed)} failed`,
        mark_tip: w
          ? `worst application of ${s.name}: ${w.application}, ${percent(s.slo_hit_rate_worst_application)}`
          : ''
      };
    }),
    1,
    'Hit rate of each scheduler; the table below has the numbers'
  );
  const priced = schedulers.map(s => (s.met ? cost(s) + half(s, 'cost_per_met_request') : 0));
  bars(
    $('cost'),
    schedulers.map(s => ({
      name: s.name,
      value: s.met ? cost(s) : 0,
      half: half(s, 'cost_per_met_request'),
      colour: line_of(s.index)[0],
      text: s.met ? dollars(cost(s)) : 'nothing met',
      tip: `${s.name}: ${s.met ? dollars(cost(s)) + ' per million met requests\n' : ''}${dollars(s.cost_per_request)} per million requests of any outcome`
    })),
    Math.max(...priced, 1e-12),
    'Dollars per million met requests of each scheduler; the table below has the numbers'
  );
  const better = {
    'hits %': 1,
    'worst app %': 1,
    'goodput /s': 1,
    'µ$/met': -1,
    'p99 ms': -1,
    'p95 ms': -1,
    'p50 ms': -1,
    'µ$/request': -1
  };
  const heads = schedulers[0].figures.map(f => f[0]);
  const texts = schedulers.map(s =>
    s.figures.map(f =>
      f[0] === 'µ$/met' && !s.met ? '–' : fixed(f[1], f[3]) + (f[2] > 0 ? ` ± ${fixed(f[2], f[3])}` : '')
    )
  );
  const best = heads.map((h, c) => {
    // the text of the best; none where all are equal as shown
    if (!better[h] || texts.every(t => t[c] === texts[0][c])) return null;
    const values = schedulers.map(s => (h === 'µ$/met' && !s.met ? Infinity : s.figures[c][1]));
    return texts[values.indexOf(better[h] > 0 ? Math.max(...values) : Math.min(...values))][c];
  });
  fill(
    $('figures'),
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('th', {scope: 'col'}, 'scheduler'),
        heads.map(h => el('th', {scope: 'col'}, h))
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
          texts[i].map((t, c) => el('td', {class: t === best[c] ? 'best' : null}, t))
        )
      )
    )
  );
}
