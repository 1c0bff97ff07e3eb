// turns.mjs - long work in turns, between which the page reacts.

const TURN_MS = 40;

// Runs a generator to its end; returns its result.
export async function inTurns(work, signal) {
  for (;;) {
    const end = performance.now() + TURN_MS;
    let step;
    do {
      step = work.next();
    } while (!step.done && performance.now() < end);
    if (step.done) {
      return step.value;
    }
    await new Promise((resolve) => { setTimeout(resolve); });
    signal?.throwIfAborted();
  }
}
