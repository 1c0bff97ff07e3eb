// chart.mjs - a flame graph: the tree of flame.mjs on a canvas, by mouse, keys
// and touch.  The selection is also described in words.

import { bytes, el } from './draw.mjs';
import { boxes, neighbour, search } from './flame.mjs';

const ROW = 22;
const FONT = '12px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const PER_SECOND = { nanoseconds: 1e9, microseconds: 1e6, milliseconds: 1e3, seconds: 1 };

export function amount(value, unit) {
  if (unit === 'bytes') {
    return bytes(value);
  }
  if (PER_SECOND[unit]) {
    const seconds = value / PER_SECOND[unit];
    return seconds < 1 ? `${(seconds * 1000).toPrecision(3)} ms` : `${seconds.toFixed(2)} s`;
  }
  return `${value.toLocaleString('en')} ${value === 1 ? unit.replace(/s$/, '') : unit}`;
}

// The colour of a name is always the same.
function colourOf(name) {
  let hash = 0;
  for (let i = 0; i < Math.min(name.length, 64); i += 1) {
    hash = (hash * 31 + name.charCodeAt(i)) % 65521;
  }
  return `hsl(${15 + (hash % 45)} ${70 + (hash % 20)}% ${64 + (hash % 12)}%)`;
}

export function flameGraph(tree, unit) {
  let top = 0;                          // the root, which fills the width
  let selected = 0;
  let found = search(tree, '');
  let turn = -1;                        // total of the matches
  let shown = [];
  let rows = 0;                         // most rows so far

  const canvas = el('canvas', {});
  const room = el('div', { class: 'flame-room' });
  const view = el('div', {
    class: 'flame', tabindex: '0', role: 'application', 'aria-label': 'Flame graph', 'aria-describedby': 'flame-keys',
  }, room, canvas);
  const said = el('p', { id: 'flame-said', class: 'flame-said', role: 'status', 'aria-live': 'polite' });
  const below = el('p', { class: 'hint flame-hover', 'aria-hidden': 'true' });
  const matches = el('span', { id: 'flame-found', class: 'hint', role: 'status', 'aria-live': 'polite' });
  const out = el('button', { type: 'button', id: 'flame-out' }, 'Zoom out');
  const input = el('input', {
    type: 'search', id: 'flame-search', 'aria-label': 'Search the flame graph', placeholder: 'Search functions',
    spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off',
  });

  const callOf = (node) => tree.names[tree.nameOf[node]];
  const share = (value) => `${(value / tree.total[0] * 100).toFixed(1)}%`;
  const words = (node) => `${callOf(node).name}: self ${amount(tree.self[node], unit)} (${share(tree.self[node])}), `
    + `total ${amount(tree.total[node], unit)} (${share(tree.total[node])})`
    + `${callOf(node).place ? `, ${callOf(node).place}` : ''}`;

  const outerOf = () => {
    const path = [];
    for (let node = tree.parent[top]; node >= 0; node = tree.parent[node]) {
      path.unshift(node);
    }
    return path;
  };

  function draw() {
    const width = view.clientWidth;
    const scale = window.devicePixelRatio || 1;
    const context = canvas.getContext('2d');
    const colours = getComputedStyle(view);
    const isSearch = input.value !== '';
    if (width === 0) {
      return;
    }
    // calls outside of the zoom are above it, at full width
    const outer = outerOf();
    shown = outer.map((node, row) => ({ node, row, x: 0, w: width }));
    boxes(tree, top, width).forEach((box) => shown.push({ ...box, row: box.row + outer.length }));

    const needed = shown[shown.length - 1].row + 1;
    room.style.height = `${needed * ROW}px`;
    if (needed > rows) {
      rows = needed;
      view.style.height = `${rows * ROW}px`;
    }
    const height = view.clientHeight;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.style.top = `${view.scrollTop}px`;
    context.scale(scale, scale);
    context.font = FONT;
    context.textBaseline = 'middle';

    shown.forEach(({ node, row, x, w }) => {
      const y = row * ROW - view.scrollTop;
      const call = callOf(node);
      if (y < -ROW || y > height) {
        return;
      }
      const isFit = isSearch && found.fits[tree.nameOf[node]];
      context.globalAlpha = (isSearch && !isFit) || row < outer.length ? 0.45 : 1;
      context.fillStyle = isFit ? '#e08cff' : call.isKnown ? colourOf(call.name) : '#c3c9d0';
      context.fillRect(x, y, Math.max(w - 1, 0.5), ROW - 1);
      context.globalAlpha = 1;
      if (w > 30) {
        const letters = Math.floor((w - 8) / 7.3);
        const text = call.name.length > letters ? `${call.name.slice(0, Math.max(letters - 1, 1))}…` : call.name;
        context.fillStyle = (isSearch && !isFit) || row < outer.length ? colours.color : '#14181d';
        context.fillText(text, x + 4, y + ROW / 2);
      }
      if (node === selected) {
        context.strokeStyle = colours.getPropertyValue('--accent');
        context.lineWidth = 3;
        context.strokeRect(x + 1.5, y + 1.5, Math.max(w - 4, 1), ROW - 4);
      }
    });
    out.disabled = top === 0;
  }

  function select(node) {
    selected = node;
    said.textContent = words(node);
    draw();
    const row = tree.depth[node] * ROW;
    if (row < view.scrollTop || row + ROW > view.scrollTop + view.clientHeight) {
      view.scrollTop = Math.max(0, row - view.clientHeight / 2);
    }
  }

  function zoom(node) {
    top = node;
    select(node);
  }

  const isWithin = (node, outer) => {
    let at = node;
    while (at > outer) {
      at = tree.parent[at];             // the one before it
    }
    return at === outer;
  };

  const at = (event) => {
    const rect = canvas.getBoundingClientRect();
    const [x, row] = [event.clientX - rect.left, Math.floor((event.clientY - rect.top + view.scrollTop) / ROW)];
    return shown.find((box) => box.row === row && x >= box.x && x < box.x + box.w);
  };

  view.addEventListener('click', (event) => {
    const box = at(event);
    if (box) {
      zoom(box.node);
    }
  });
  view.addEventListener('mousemove', (event) => {
    const box = at(event);
    below.textContent = box ? words(box.node) : '';
  });
  view.addEventListener('mouseleave', () => { below.textContent = ''; });
  view.addEventListener('scroll', draw);
  view.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key.startsWith('Arrow')) {
      const node = neighbour(tree, selected, event.key);
      if (!isWithin(node, top)) {
        top = node;                     // above the zoom, or next to it
      }
      select(node);
    } else if (event.key === 'Enter') {
      zoom(selected);
    } else if (event.key === 'Escape') {
      zoom(Math.max(tree.parent[top], 0));
    } else if (event.key === 'Home') {
      zoom(0);
    } else {
      return;
    }
    event.preventDefault();
  });
  out.addEventListener('click', () => zoom(Math.max(tree.parent[top], 0)));
  input.addEventListener('input', () => {
    found = search(tree, input.value);
    turn = -1;
    matches.textContent = input.value === '' ? ''
      : `${found.nodes.length.toLocaleString('en')} found, ${share(found.total)}. Enter goes to the next.`;
    draw();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && found.nodes.length > 0) {
      event.preventDefault();
      turn = (turn + 1) % found.nodes.length;
      const node = found.nodes[turn];
      if (!isWithin(node, top)) {
        top = 0;
      }
      select(node);
    }
  });
  new ResizeObserver(draw).observe(view);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  said.textContent = words(0);

  return el('section', { class: 'stack flame-graph', 'aria-label': 'Flame graph' },
    el('div', { class: 'row pad' }, input, out, matches), view, said, below,
    el('p', { id: 'flame-keys', class: 'hint pad' },
      'Arrow keys go from call to call, Enter or a click zooms in, Escape zooms out, Home shows all.'));
}
