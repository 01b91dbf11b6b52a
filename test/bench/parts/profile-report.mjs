import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { basename, relative } from "node:path";
import { fileURLToPath } from "node:url";

const sourceMaps = new Map();
const notWork = new Set(["(idle)", "(root)"]);

/**
 * The functions in which the time goes, by self time. The engine gives the position of each function in the build; the
 * source map leads back to the file it came from.
 */
export function profileReport(profile, { top }) {
  const { nodes, samples, timeDeltas } = profile;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const times = new Map();
  let total = 0;
  for (const [index, id] of samples.entries()) {
    const { functionName } = byId.get(id).callFrame;
    if (notWork.has(functionName)) continue;
    const label = labelOf(byId.get(id).callFrame);
    times.set(label, (times.get(label) ?? 0) + timeDeltas[index]);
    total += timeDeltas[index];
  }
  return {
    functions: sorted(times, total).slice(0, top),
    groups: sorted(grouped(times), total),
  };
}

function sorted(times, total) {
  return [...times]
    .map(([label, time]) => ({ label, share: time / total }))
    .sort((left, right) => right.share - left.share);
}

/** Where the code comes from: ours, a package, Node, or the engine itself. */
function grouped(times) {
  const groups = new Map();
  for (const [label, time] of times) {
    const place = label.slice(label.lastIndexOf("  ") + 2);
    const module = place.match(/^(?:node:)?internal\/[^/:]+|^node:[^/:]+/)?.[0];
    const group =
      label.startsWith("(") || place === ""
        ? label.trim()
        : (module ??
          place.match(/(?:.*node_modules\/)((?:@[^/]+\/)?[^/]+)/)?.[1] ??
          place.match(/^[^/]+\/[^/]+/)?.[0] ??
          place);
    groups.set(group, (groups.get(group) ?? 0) + time);
  }
  return groups;
}

function labelOf({ functionName, url, lineNumber, columnNumber }) {
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url === "") return `${name}  `;
  return `${name}  ${placeOf(url, lineNumber, columnNumber)}`;
}

/** Where in the source what stands at this place of the build comes from. */
export function placeOf(url, line, column) {
  if (!url.startsWith("file:")) return `${url}:${line + 1}`;
  const file = fileURLToPath(url);
  const entry = sourceMapOf(file)?.findEntry(line, column);
  if (entry?.originalSource) return `${entry.originalSource.replace(/^(\.\.\/)+/, "")}:${entry.originalLine + 1}`;
  const short = relative(fileURLToPath(new URL("../../..", import.meta.url)), file);
  return `${short.startsWith("..") ? basename(file) : short.replace(/^.*node_modules\//, "node_modules/")}:${line + 1}`;
}

function sourceMapOf(file) {
  if (!sourceMaps.has(file)) {
    const map = `${file}.map`;
    sourceMaps.set(file, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, "utf8"))) : undefined);
  }
  return sourceMaps.get(file);
}
