// Elements, numbers as text, tips, choices, axes.
const $ = id => document.getElementById(id);
// The name of SVG looks like an address, but nothing is loaded from it; the key of the name is in every svg element.
const SVG = Object.assign(document.createElement('div'), {innerHTML: '<svg></svg>'}).firstChild.namespaceURI;
function el(tag, attributes, ...children) {
  const svg = ['svg', 'g', 'rect', 'line', 'path', 'text', 'title', 'circle'].includes(tag);
  const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined));
  return node;
}
const fill = (node, ...children) => node.replaceChildren(...children.flat(Infinity).filter(c => c !== null));
const group = n => Math.round(n).toLocaleString('en-US');
const fixed = (n, digits) => n.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
const ms = us => {
  const v = us / 1000,
    a = Math.abs(v);
  return fixed(v, a >= 100 ? 0 : a >= 10 ? 1 : 2) + '\u00a0ms';
};
// A share as a percentage; never rounds to 100 what is not all.
function percent(share, digits = 2) {
  const text = fixed(share * 100, digits);
  return (share < 1 && Number(text) === 100 ? fixed(Math.floor(share * 1e6) / 1e4, 4) : text) + '\u00a0%';
}
const plural = (n, one, many) => `${group(n)} ${n === 1 ? one : many}`;
const dark = () => matchMedia('(prefers-color-scheme: dark)').matches;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const tip = $('tip');
function show_tip(event, text) {
  tip.textContent = text;
  tip.style.display = 'block';
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(innerWidth - box.width - 8, event.clientX + 14)) + 'px';
  tip.style.top =
    (event.clientY + box.height + 24 > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16) + 'px';
}
const hide_tip = () => {
  tip.style.display = 'none';
};
const tipped = text => ({onmousemove: e => show_tip(e, text), onmouseleave: hide_tip});
const choice = (labels, at, pick) =>
  el(
    'span',
    {class: 'group', role: 'group'},
    labels.map((label, i) =>
      el('button', {type: 'button', 'aria-pressed': String(i === at), onclick: () => pick(i)}, label)
    )
  );
// Round steps for an axis.
function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(1, wanted),
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
  const out = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9 * step; t += step) out.push(t + 0);
  return out;
}
