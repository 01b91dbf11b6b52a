import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";

/** A source map as JSON. */
export interface SourceMap {
  version: number;
  sources: (string | null)[];
  sourcesContent?: (string | null)[];
  names: string[];
  mappings: string;
}

/**
 * The same map for whoever looks for a file and its line, without the sources themselves: of all places that lead to
 * one line in a row, the first one is kept. Where it leads into another package, it ends.
 */
export function toLineMap({ version, sources, mappings }: SourceMap): SourceMap {
  const isOwn = sources.map((source) => source !== null && !source.includes("node_modules/"));
  const lines = decode(mappings).map((segments) => firstOfEachLine(segments, isOwn));
  // What was a number stays one.
  const kept = sources.map((source, index) => (isOwn[index] ? source : null));
  return { version, sources: kept, names: [], mappings: encode(lines) };
}

function firstOfEachLine(segments: readonly SourceMapSegment[], isOwn: readonly boolean[]): SourceMapSegment[] {
  const kept: SourceMapSegment[] = [];
  for (const [column, source, line] of segments) {
    const last = kept.at(-1);
    if (source === undefined || line === undefined || !isOwn[source]) {
      if (last !== undefined && last.length > 1) kept.push([column]);
    } else if (last?.[1] !== source || last[2] !== line) kept.push([column, source, line, 0]);
  }
  return kept;
}
