/** What a line of a stack trace looks like, in the languages of model servers. */
const frames: readonly RegExp[] = [
  /^Traceback \(most recent call last\):?$/,
  /^File "[^"]*", line \d+/,
  /^at .*(?::\d+|<anonymous>|\(native)/,
  /^goroutine \d+ \[/,
  /^\S+\.(?:go|rs|cpp|cc|c|py|js|ts|java):\d+/,
  /^thread '[^']*' (?:\(\d+\) )?panicked at/,
  /^(?:stack backtrace|stack trace|backtrace):?$/i,
  /^\d+: (?:0x[0-9a-f]+|[\w:<>]+::)/,
  /^During handling of the above exception/,
  /^The above exception was the direct cause/,
];

const pythonFrame = /^File "/;
const pythonError = /^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b/;
const beginning = "Traceback (most recent call last)";

/** The text without stack traces, whether these have lines of their own or all stand in one. */
export function withoutTraces(text: string): string {
  const lines = text.split(/\r?\n|\\n/);
  return withoutInlineFrames(lines.length > 1 ? withoutFrames(lines, text) : text);
}

function withoutFrames(lines: readonly string[], text: string): string {
  let isCode = false;
  const kept = lines.filter((line) => {
    const trimmed = line.trim().replaceAll('\\"', '"');
    // The line of code that a frame shows, and the marks below it.
    const wasCode = isCode && /^\s/.test(line) && !pythonError.test(trimmed);
    const isFrame = frames.some((frame) => frame.test(trimmed));
    isCode = pythonFrame.test(trimmed) || (wasCode && !isFrame);
    return !isFrame && !wasCode;
  });
  return kept.length === lines.length
    ? text
    : kept
        .map((line) => line.trim())
        .join(" ")
        .trim();
}

function withoutInlineFrames(text: string): string {
  const start = text.indexOf(beginning);
  const rest = start < 0 ? "" : text.slice(start);
  const last = [...rest.matchAll(/\b[A-Za-z_][\w.]{0,80}(?:Error|Exception)\b(?=:)/g)].at(-1);
  const whole = start < 0 ? text : text.slice(0, start) + (last === undefined ? "" : rest.slice(last.index));
  return whole
    .replace(/File \\?"[^"\n]{1,500}", line \d+(?:, in [\w.<>]+)?/g, "")
    .replace(/\bat (?:[\w.<>$]{1,80} )?\(?(?:file:|node:|\/|[A-Za-z]:\\)[^\s)]+:\d+\)?/g, "");
}
