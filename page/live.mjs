// live.mjs - the tab "Figures": the server's counters as small charts.

import { get } from './ask.mjs';
import { $, bytes, el, notice, svg, table } from './draw.mjs';
import { FIGURES, History, points, readMetrics } from './figures.mjs';

const EVERY_MS = 2000;
const WIDTH = 240;
const HEIGHT = 56;

const history = new History();
let settings;
let timer = null;
let charts = null;

const shown = (figure, value) => (figure.isBytes ? bytes(value)
  : value.toLocaleString('en', value < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: value < 10 ? 1 : 0 }));

function makeCharts() {
  charts = new Map(FIGURES.map((figure) => {
    const line = svg('path', { class: 'line' });
    const area = svg('path', { class: 'area' });
    const value = el('strong', {}, '…');
    const note = el('span', { class: 'origin' });
    $('figures').append(el('figure', { class: 'figure', 'data-figure': figure.id },
      el('figcaption', {}, figure.title), value, note,
      svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, area, line)));
    return [figure.id, { line, area, value, note }];
  }));
}

function draw(metrics) {
  FIGURES.forEach((figure) => {
    const series = history.series.get(figure.id);
    const chart = charts.get(figure.id);
    if (series.length === 0) {
      return;
    }
    const limit = figure.limit ? figure.limit(metrics) : 0;
    const at = points(series, WIDTH, HEIGHT - 2, limit).map(([x, y]) => [x, y + 1]);
    const path = at.map(([x, y], i) => `${i ? 'L' : 'M'}${x} ${y}`).join('');
    chart.line.setAttribute('d', path);
    chart.area.setAttribute('d', `${path}L${at[at.length - 1][0]} ${HEIGHT}L${at[0][0]} ${HEIGHT}Z`);
    chart.value.textContent = shown(figure, series[series.length - 1]);
    const top = Math.max(...series);
    chart.note.textContent = limit ? `of ${shown(figure, limit)}` : `at most ${shown(figure, top)} ${figure.isCounter ? 'in the last hour' : 'so far'}`;
  });
}

const STATES = ['ready', 'absent', 'failed', 'malformed'];

function drawStores(metrics) {
  const rows = (metrics.get('symbolicate_store_up') || []).map((row) => {
    const { store } = row.labels;
    const one = (name, state) => (metrics.get(`symbolicate_${name}`) || [])
      .find((r) => r.labels.store === store && (state === undefined || r.labels.state === state))?.value;
    return { store, up: row.value === 1, one };
  });
  $('stores').replaceChildren(rows.length ? table([
    { title: 'Store', class: 'mono', show: (r) => r.store },
    { title: 'State', class: 'nowrap', show: (r) => el('span', { class: r.up ? 'good' : 'bad' }, r.up ? 'readable' : 'not readable') },
    ...STATES.map((state) => ({
      title: state, class: 'right', show: (r) => r.one('store_modules', state)?.toLocaleString('en') ?? '–',
    })),
    { title: 'Evicted', class: 'right', show: (r) => r.one('store_evicted_total')?.toLocaleString('en') ?? '–' },
    { title: 'File', class: 'right', show: (r) => (r.up ? bytes(r.one('store_file_bytes')) : '–') },
  ], rows) : '');
}

async function tick() {
  try {
    const ofHour = new URL(settings.metrics);
    ofHour.search = 'history';
    const [text, hour] = await Promise.all([get(settings.metrics).then((r) => r.text()), get(ofHour).then((r) => r.json())]);
    const metrics = readMetrics(text);
    history.take(metrics, hour);
    $('figures-status').replaceChildren();
    draw(metrics);
    drawStores(metrics);
  } catch (error) {
    $('figures-status').replaceChildren(notice(`The figures could not be read. ${error.message}`, { isError: true }));
  }
}

export function start(all) {
  settings = all;
}

// Polls only while the tab is visible.
export function showFigures(isShown) {
  clearTimeout(timer);
  timer = null;
  if (!isShown) {
    return;
  }
  if (!settings.metrics) {
    $('figures-status').replaceChildren(notice('The page was not told where the figures are (symbolicate_page metrics=PATH).'));
    return;
  }
  if (!charts) {
    makeCharts();
  }
  const turn = async () => {
    if (!document.hidden) {
      await tick();
    }
    if (timer !== null) {
      timer = setTimeout(turn, EVERY_MS);
    }
  };
  timer = setTimeout(turn);
}
