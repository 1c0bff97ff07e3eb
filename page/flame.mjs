// flame.mjs - the stacks of a profile, merged by the names of their calls.
//
// flameTree(profile) is a generator, like readProfile().  The tree is in
// arrays, by node; node 0 is the root, and a node follows its parent.
//
//   parent, self, total, depth
//   nameOf             index in names: [{name, place}]
//   first, children    children of node i: children[first[i]] .. before
//                      children[first[i + 1]], the largest first

import { hex } from './read.mjs';

const ROWS_PER_TURN = 5000;
const SHIFT = 2 ** 21;

// Calls at a frame, outermost first; its address if there is no name.
function callsOf(report, frame) {
  const module = report.modules[frame.module];
  const calls = frame.answer ? [...frame.answer.inlines, frame.answer]
    : frame.calls || (frame.name ? [frame] : []);
  if (calls.length === 0) {
    const name = module && frame.offset !== null ? `${module.name} + ${hex(frame.offset)}` : frame.raw;
    return [{ name, place: '', isKnown: false }];
  }
  return calls.map((call) => ({
    name: call.name || '(no name)', place: call.file || (module ? module.name : ''), isKnown: true,
  })).reverse();
}

export function* flameTree(profile) {
  const names = [{ name: 'all', place: '', isKnown: true }];
  const idOf = new Map();
  const callsOfFrame = [];
  const nodes = new Map();
  const [parent, nameOf, self, depth] = [[-1], [0], [0], [0]];

  const nameId = (call) => {
    let id = idOf.get(call.name);
    if (id === undefined) {
      id = names.push(call) - 1;
      idOf.set(call.name, id);
    }
    return id;
  };
  const child = (node, name) => {
    const key = node * SHIFT + name;
    let found = nodes.get(key);
    if (found === undefined) {
      found = parent.push(node) - 1;
      nameOf.push(name);
      self.push(0);
      depth.push(depth[node] + 1);
      nodes.set(key, found);
    }
    return found;
  };

  for (let i = 0; i < profile.frames.length; i += 1) {
    callsOfFrame.push(callsOf(profile.report, profile.frames[i]).map(nameId));
    if (i % ROWS_PER_TURN === 0) {
      yield;
    }
  }
  const nodeOf = new Int32Array(profile.parents.length);
  for (let i = 0; i < nodeOf.length; i += 1) {
    const outer = profile.parents[i];
    nodeOf[i] = callsOfFrame[profile.frameOf[i]].reduce(child, outer < 0 ? 0 : nodeOf[outer]);
    self[nodeOf[i]] += profile.weights[i];
    if (i % ROWS_PER_TURN === 0) {
      yield;
    }
  }

  const n = parent.length;
  const total = Float64Array.from(self);
  const first = new Int32Array(n + 1);
  for (let i = n - 1; i > 0; i -= 1) {
    total[parent[i]] += total[i];
    first[parent[i] + 1] += 1;
    if (i % ROWS_PER_TURN === 0) {
      yield;
    }
  }
  for (let i = 1; i <= n; i += 1) {
    first[i] += first[i - 1];
  }
  const next = first.slice();
  const children = new Int32Array(n - 1);
  for (let i = 1; i < n; i += 1) {
    children[next[parent[i]]] = i;
    next[parent[i]] += 1;
  }
  yield;
  for (let i = 0; i < n; i += 1) {
    if (first[i + 1] - first[i] > 1) {
      children.subarray(first[i], first[i + 1]).sort((a, b) => total[b] - total[a] || a - b);
    }
    if (i % ROWS_PER_TURN === 0) {
      yield;
    }
  }
  return { names, parent, nameOf, self, total, depth, first, children };
}

// The nodes whose names contain the text, the largest first, and their total; a
// call within another match counts once.
export function search(tree, text) {
  const wanted = text.toLowerCase();
  const fits = tree.names.map((call, i) => i > 0 && wanted !== '' && call.name.toLowerCase().includes(wanted));
  const isWithin = new Uint8Array(tree.parent.length);
  const nodes = [];
  let total = 0;

  for (let i = 1; i < tree.parent.length; i += 1) {
    const isFit = fits[tree.nameOf[i]];
    isWithin[i] = isFit || isWithin[tree.parent[i]] ? 1 : 0;
    if (isFit) {
      nodes.push(i);
      total += isWithin[tree.parent[i]] ? 0 : tree.total[i];
    }
  }
  return { fits, nodes: nodes.sort((a, b) => tree.total[b] - tree.total[a]), total };
}

// Boxes to draw for a node and its descendants: [{node, row, x, w}], those at
// least a pixel wide.
export function boxes(tree, top, width) {
  const found = [{ node: top, row: 0, x: 0, w: width }];
  const perUnit = width / tree.total[top];

  for (let i = 0; i < found.length; i += 1) {
    const { node, row } = found[i];
    let { x } = found[i];
    for (let c = tree.first[node]; c < tree.first[node + 1]; c += 1) {
      const w = tree.total[tree.children[c]] * perUnit;
      if (w < 1) {
        break;                          // later ones are not larger
      }
      found.push({ node: tree.children[c], row: row + 1, x, w });
      x += w;
    }
  }
  return found;
}

// The node that an arrow key leads to.
export function neighbour(tree, node, key) {
  const { parent, first, children } = tree;
  if (key === 'ArrowUp') {
    return parent[node] >= 0 ? parent[node] : node;
  }
  if (key === 'ArrowDown') {
    return first[node] < first[node + 1] ? children[first[node]] : node;
  }
  const outer = parent[node];
  if (outer < 0) {
    return node;
  }
  const at = children.indexOf(node, first[outer]) + (key === 'ArrowRight' ? 1 : -1);
  return at >= first[outer] && at < first[outer + 1] ? children[at] : node;
}
