/**
 * The path of a request target, undecoded and without query. The target may come in absolute form (RFC 9112, section
 * 3.2.2). `new URL` is no help: it reads `//v1/models` as the host v1.
 */
export function pathOf(target = "/"): string {
  let start = 0;
  if (target.charCodeAt(0) !== slash) {
    const authority = target.indexOf("://") + 3;
    start = authority < 3 ? 0 : target.indexOf("/", authority);
    if (start < 0) return "/";
  }
  const query = target.indexOf("?", start);
  return query < 0 ? target.slice(start) : target.slice(start, query);
}

/** The path behind `basePath`, or `undefined` when it is not below it: `/api/ai/v10` is not below `/api/ai/v1`. */
export function pathWithin(basePath: string, path: string): string | undefined {
  if (basePath === "") return path;
  if (!path.startsWith(basePath)) return undefined;
  if (path.length === basePath.length) return "/";
  return path.charCodeAt(basePath.length) === slash ? path.slice(basePath.length) : undefined;
}

const slash = 0x2f;
