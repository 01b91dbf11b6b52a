/**
 * The path of a URL or of a request target, undecoded and without query. A target may come in absolute form (RFC 9112,
 * section 3.2.2). `new URL` is no help: it reads `//v1/models` as the host v1.
 */
export function pathOf(url: string): string {
  let start = 0;
  if (url.charCodeAt(0) !== slash) {
    const scheme = url.indexOf("://");
    const authority = scheme < 0 ? -1 : scheme + 3;
    start = authority < 0 ? 0 : endOfAuthority(url, authority);
  }
  const end = firstOf(url, start, "?", "#");
  const path = url.slice(start, end);
  return path === "" ? "/" : path;
}

/** The path behind `basePath`, or `undefined` when it is not below it: `/api/ai/v10` is not below `/api/ai/v1`. */
export function pathWithin(basePath: string, path: string): string | undefined {
  if (basePath === "") return path;
  if (!path.startsWith(basePath)) return undefined;
  if (path.length === basePath.length) return "/";
  return path.charCodeAt(basePath.length) === slash ? path.slice(basePath.length) : undefined;
}

/** A path outside of `basePath`, so written that no gateway serves it. */
export function outside(path: string): string {
  return `/${path}`;
}

const slash = 0x2f;

function endOfAuthority(url: string, start: number): number {
  const path = url.indexOf("/", start);
  const query = firstOf(url, start, "?", "#");
  return path < 0 || path > query ? query : path;
}

function firstOf(text: string, start: number, ...marks: readonly string[]): number {
  let first = text.length;
  for (const mark of marks) {
    const index = text.indexOf(mark, start);
    if (index >= 0 && index < first) first = index;
  }
  return first;
}
