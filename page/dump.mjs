// dump.mjs - minidumps, which the server walks at /minidump.

import { Refused, settled, takeSentry } from './ask.mjs';
import { Report } from './read.mjs';

// "MDMP" in either byte order
export const isDump = (bytes) => ['MDMP', 'PMDM'].includes(String.fromCharCode(...bytes.subarray(0, 4)));

const titleOf = (stack, i) => `Thread ${stack.thread_id ?? i}${stack.thread_name ? ` ${stack.thread_name}` : ''}${
  stack.is_requesting ? ' (crashed)' : ''}`;

// The report in an answer: the thread that crashed comes first.
export function reportOf(answer) {
  if (answer.status !== 'completed' || !Array.isArray(answer.stacktraces)) {
    throw new Refused(200, `The server answers: ${String(answer.message || answer.status).slice(0, 200)}`);
  }
  const { system_info: system = {} } = answer;
  const report = new Report('sentry', ['Minidump', answer.crash_reason, answer.assertion,
    [system.os_name, system.os_version, system.cpu_arch].filter(Boolean).join(' ')].filter(Boolean).join(' — '));
  const stacks = [...answer.stacktraces].sort((a, b) => Boolean(b.is_requesting) - Boolean(a.is_requesting));

  stacks.forEach((told, i) => {
    const stack = report.stack(titleOf(told, i));
    told.frames.forEach((frame) => {
      if (frame.original_index >= stack.frames.length) {
        report.add(stack, { raw: `${frame.instruction_addr}${frame.package ? ` in ${frame.package}` : ''}` });
      }
    });
  });
  takeSentry(report, { ...answer, stacktraces: stacks });
  return report.done();
}

// url: that of Sentry's API for native events; the one for dumps is next to it.
export async function symbolicateDump(file, url, options = {}) {
  const form = new FormData();
  form.append('upload_file_minidump', file);
  return reportOf(await settled(new URL('minidump', url), form, options));
}
