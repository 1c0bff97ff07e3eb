// draw.mjs - elements.  Data from symbols, modules, servers or a paste is shown
// as text (textContent) and never as markup; the page's policy would refuse
// that, too.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  Object.entries(props).forEach(([key, value]) => {
    if (value === undefined || value === null || value === false) {
      return;
    }
    if (key === 'class') {
      node.className = value;
    } else if (key === 'on') {
      Object.entries(value).forEach(([event, fn]) => node.addEventListener(event, fn));
    } else {
      node.setAttribute(key, value === true ? '' : String(value));
    }
  });
  node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false)
    .map((c) => (c instanceof Node ? c : String(c))));
  return node;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  Object.entries(props).forEach(([key, value]) => node.setAttribute(key, String(value)));
  node.append(...children);
  return node;
}

export const $ = (id) => document.getElementById(id);

export function notice(message, { isError = false, list = [] } = {}) {
  return el('div', { class: `notice${isError ? ' error' : ''}`, role: isError ? 'alert' : null },
    el('p', {}, message), list.length ? el('ul', {}, list.map((item) => el('li', {}, item))) : null);
}

// On a narrow screen a row becomes a card; then it contains the columns' names.
export function table(columns, rows) {
  return el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Table' },
    el('table', { class: 'cards' },
      el('thead', {}, el('tr', {}, columns.map((c) => el('th', { scope: 'col', class: c.class }, c.title)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, columns.map((c) => el('td', {
        class: c.class, 'data-label': c.title,
      }, el('span', {}, c.show(row)))))))));
}

export const list = (pairs) => el('dl', {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  .flatMap(([key, value]) => [el('dt', {}, key), el('dd', {}, value)]));

export function bytes(n) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = Number(n);
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

// A time as "3 hours ago"; its title has the full time.
export function ago(iso) {
  if (!iso) {
    return 'never';
  }
  const seconds = (new Date(iso) - Date.now()) / 1000;
  const [unit, size] = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]]
    .find(([, s]) => Math.abs(seconds) >= s) || ['second', 1];
  return el('time', { datetime: iso, title: iso },
    new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.round(seconds / size), unit));
}

export async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  // a page without TLS has only this clipboard
  const box = el('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  if (!done) {
    throw new Error('The browser did not let the page copy.');
  }
}
