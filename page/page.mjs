// page.mjs - the page's start, its tabs and its address.

import { get } from './ask.mjs';
import { $, notice } from './draw.mjs';
import * as live from './live.mjs';
import * as modules from './modules.mjs';
import * as report from './report.mjs';

const TABS = ['report', 'modules', 'missing', 'figures'];

function select(name, { focus = false } = {}) {
  TABS.forEach((tab) => {
    const isThis = tab === name;
    const button = $(`tab-${tab}`);
    button.setAttribute('aria-selected', String(isThis));
    button.tabIndex = isThis ? 0 : -1;
    $(`panel-${tab}`).hidden = !isThis;
    if (isThis && focus) {
      button.focus();
    }
  });
  live.showFigures(name === 'figures');
  if (name === 'modules') {
    modules.showModules();
  } else if (name === 'missing') {
    modules.showMissing();
  }
}

// The fragment: a tab, a module, or a report.
function follow() {
  const fragment = location.hash.slice(1);
  if (fragment.startsWith('report=')) {
    select('report');
    report.openLink(fragment.slice('report='.length));
    return;
  }
  if (fragment.startsWith('module=')) {
    const [name, id] = fragment.slice('module='.length).split('/').map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
    select('modules');
    if (name && id) {
      modules.show(name, id);
    }
    return;
  }
  select(TABS.includes(fragment) ? fragment : 'report');
}

function startTabs() {
  TABS.forEach((tab, i) => {
    $(`tab-${tab}`).addEventListener('click', () => {
      history.replaceState(null, '', `#${tab}`);
      select(tab);
    });
    $(`tab-${tab}`).addEventListener('keydown', (event) => {
      const to = {
        ArrowRight: (i + 1) % TABS.length, ArrowLeft: (i + TABS.length - 1) % TABS.length, Home: 0, End: TABS.length - 1,
      }[event.key];
      if (to !== undefined) {
        event.preventDefault();
        history.replaceState(null, '', `#${TABS[to]}`);
        select(TABS[to], { focus: true });
      }
    });
  });
  window.addEventListener('hashchange', follow);
}

async function start() {
  let settings;
  try {
    settings = await (await get('settings.json')).json();
  } catch (error) {
    $('problems').replaceChildren(notice(`The page cannot read its settings. ${error.message}`, { isError: true }));
    return;
  }
  // relative to this page
  ['api', 'sentry', 'admin', 'metrics'].forEach((key) => {
    settings[key] = settings[key] ? new URL(settings[key], location.href.replace(/[?#].*/, '')) : null;
  });
  $('version').textContent = settings.version;
  report.start(settings);
  modules.start(settings);
  live.start(settings);
  startTabs();
  follow();
}

start();
