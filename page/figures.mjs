// figures.mjs - the server's counters over time, from its page for Prometheus.

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

// The charts.  The server keeps the last hour of a counter; a gauge has only
// its current value.
export const FIGURES = [
  { id: 'requests', title: 'Requests per second', isCounter: true },
  { id: 'frames', title: 'Frames per second', isCounter: true },
  { id: 'misses', title: 'Modules without symbols, per second', isCounter: true },
  { id: 'errors', title: 'Answers 4xx and 5xx, per second', isCounter: true },
  { id: 'fetches', title: 'Fetches per second', isCounter: true },
  { id: 'queue', title: 'Modules being fetched or compiled', value: (m) => sum(m, 'loader_flights') },
  { id: 'waiting', title: 'Requests that wait for them', value: (m) => sum(m, 'loader_waiting') },
  { id: 'store', title: 'Bytes of the store in use', isBytes: true, value: (m) => sum(m, 'store_live_bytes'),
    limit: (m) => sum(m, 'store_quota_bytes') },
];

export const SAMPLES = 120;

// Rates and values over time: take() at each scrape, with the server's answer
// to ?history, if it has one.
export class History {
  constructor() {
    this.series = new Map(FIGURES.map((f) => [f.id, []]));
  }

  take(metrics, hour) {
    FIGURES.forEach((figure) => {
      if (figure.isCounter) {
        this.series.set(figure.id, rates(hour, figure.id));
        return;
      }
      const series = this.series.get(figure.id);
      series.push(figure.value(metrics));
      series.splice(0, series.length - SAMPLES);
    });
  }
}

// Counts of half minutes, as rates per second.
function rates(hour, id) {
  const counts = hour && Array.isArray(hour[id]) ? hour[id] : [];
  return counts.slice(-SAMPLES).map((count) => Number(count) / hour.interval_s);
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
