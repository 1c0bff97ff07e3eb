// figures.mjs - the server's counters over time, out of its page for Prometheus.

// Map of a metric's name to [{labels, value}].
export function readMetrics(text) {
  const metrics = new Map();
  text.split('\n').forEach((line) => {
    const m = line.match(/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/);
    if (!m) {
      return;
    }
    const labels = {};
    for (const [, key, value] of (m[2] || '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[key] = value.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
    }
    if (!metrics.has(m[1])) {
      metrics.set(m[1], []);
    }
    metrics.get(m[1]).push({ labels, value: Number(m[3]) });
  });
  return metrics;
}

export function sum(metrics, name, accepts = () => true) {
  return (metrics.get(`symbolicate_${name}`) || [])
    .reduce((total, row) => (accepts(row.labels) ? total + row.value : total), 0);
}

const missed = (labels) => labels.outcome !== 'found';

// What is shown.  A rate is of a counter, per second.
export const FIGURES = [
  { id: 'requests', title: 'Requests per second', rate: (m) => sum(m, 'requests_total') },
  { id: 'frames', title: 'Frames per second', rate: (m) => sum(m, 'frames_total') },
  { id: 'misses', title: 'Modules without symbols, per second', rate: (m) => sum(m, 'modules_total', missed) },
  { id: 'errors', title: 'Answers 4xx and 5xx, per second',
    rate: (m) => sum(m, 'requests_total', (l) => l.code !== '2xx') },
  { id: 'fetches', title: 'Fetches per second', rate: (m) => sum(m, 'fetches_total') },
  { id: 'queue', title: 'Modules being fetched or compiled', value: (m) => sum(m, 'loader_flights') },
  { id: 'waiting', title: 'Requests that wait for them', value: (m) => sum(m, 'loader_waiting') },
  { id: 'store', title: 'Bytes of the store in use', isBytes: true, value: (m) => sum(m, 'store_live_bytes'),
    limit: (m) => sum(m, 'store_quota_bytes') },
];

export const SAMPLES = 120;

// Rates and values over time: take() at each scrape.
export class History {
  constructor() {
    this.series = new Map(FIGURES.map((f) => [f.id, []]));
    this.last = null;
  }

  take(metrics, now_s) {
    FIGURES.forEach((figure) => {
      const series = this.series.get(figure.id);
      let value;
      if (figure.value) {
        value = figure.value(metrics);
      } else if (this.last && now_s > this.last.now_s) {
        // a server that was started again counts from zero
        value = Math.max(0, figure.rate(metrics) - figure.rate(this.last.metrics)) / (now_s - this.last.now_s);
      }
      if (value !== undefined) {
        series.push(value);
        series.splice(0, series.length - SAMPLES);
      }
    });
    this.last = { metrics, now_s };
  }
}

// The points of a line in a box of width x height, newest at the right.  The
// box's top is the limit if there is one, else the largest value.
export function points(series, width, height, limit = 0) {
  const max = Math.max(...series, limit) || 1;
  const step = width / (SAMPLES - 1);
  return series.map((v, i) => [
    width - (series.length - 1 - i) * step, height - (v / max) * height,
  ].map((n) => Number(n.toFixed(1))));
}
