// Draws everything; the part of the address after # may name a scheduler and a request.
function render() {
  result();
  cdf();
  times();
  show_request();
  draw();
}
head();
$('window-text').textContent = window_text();
causes();
const asked = new URLSearchParams(location.hash.slice(1));
// Begin with the winner's worst miss, or with another scheduler's if the winner has none.
const begin =
  schedulers.find(s => s.name === asked.get('scheduler')) ||
  (winner.list.some(r => r.ending === 'late')
    ? winner
    : ranked.find(s => s.list.some(r => r.ending === 'late')) || winner);
view_all();
go_to(begin.name, Number(asked.get('request')));
render();
let resizing = 0;
addEventListener('resize', () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(render);
});
addEventListener('hashchange', () => {
  const h = new URLSearchParams(location.hash.slice(1));
  go_to(h.get('scheduler'), Number(h.get('request')));
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', render);
