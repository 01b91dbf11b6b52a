/** Hosts by their last label; public ones that are often named, and those of own networks. */
const domains = new Set(
  (
    "com net org io ai dev app cloud co eu de uk fr cn xyz tech site host systems run sh gg " +
    "local internal svc lan corp intranet home localdomain cluster consul"
  ).split(" "),
);
const privateDomains = new Set("local internal svc lan corp intranet home localdomain cluster consul".split(" "));

/** In front of a colon and a number, these are no hosts. */
const places = new Set(
  "line lines column col char character position pos index offset row at status code error limit max min token tokens size length byte bytes count step version".split(
    " ",
  ),
);

/** Where the path of a request's member begins. */
const roots = "messages|tools|input|response_format|functions|choices|properties|items|body|definitions|\\$defs";
const pointer = new RegExp(`^#?/(?:${roots})(?:/[\\w$~-]+)*$`);
const memberPath = new RegExp(`^(?:${roots})\\b`);
const endpoint = /^(?:\/v1)?(?:\/(?:chat|completions|embeddings|models|responses))+$/;
const source = /\.(?:py|pyx|js|mjs|cjs|ts|tsx|go|rs|cpp|cc|cu|c|h|hpp|java|kt|rb|php|cs|so|dll|jinja)(?::\d+)*$/;

/** `host`, `host:port`, an address; not a date, a version or the path of a member. */
export function isHost(word: string): boolean {
  if (/^localhost(?::\d+)?$/i.test(word)) return true;
  if (/^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?$/.test(word)) return true;
  if (/^[0-9a-f:]+$/i.test(word) && word.includes("::") && word.length > 2) return true;
  const [name = "", port] = word.split(":");
  if (port !== undefined && /^[a-z][\w.-]*:\d{2,5}$/i.test(word)) return !places.has(name.toLowerCase());
  return port === undefined && isDomain(name);
}

/** In a network of the operator's, as far as its name tells. */
export function isPrivateHost(host: string): boolean {
  const last = host.split(".").at(-1) ?? "";
  return !host.includes(".") || /^[\d.]+$|[[\]]/.test(host) || privateDomains.has(last.toLowerCase());
}

function isDomain(name: string): boolean {
  const labels = name.split(".");
  if (labels.length < 2 || memberPath.test(name) || !/^[a-z0-9.-]+$/i.test(name)) return false;
  return labels.every((label) => label !== "") && domains.has(labels.at(-1)?.toLowerCase() ?? "");
}

/** A file's path, with or without its place in it; not the path of a member, or of the gateway's own endpoints. */
export function isFilePath(word: string): boolean {
  if (/^(?:\/|~\/|\.\.?\/)/.test(word)) return word.length > 1 && !pointer.test(word) && !endpoint.test(word);
  return source.test(word) && (word.includes("/") || /:\d+$/.test(word));
}

const strongPrefix =
  /^(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|npm|r8|nvapi|pplx|fw|csk|xox[abprs]|github_pat)[-_][\w*-]{4,}|^AIza[\w-]{6,}|^(?:AKIA|ASIA)[A-Z0-9]{8,}|^eyJ[\w-]{8,}/;
const weakPrefix = /^(?:key|org|proj|acct|req|user|chatcmpl|run|thread)[-_](?=[\w*-]*[\d*])[\w*-]{4,}/;

/** A key, an account's or a request's id: by how it begins, by the stars in it, or by letters and digits that no word has. */
export function isKey(word: string): boolean {
  if (strongPrefix.test(word) || weakPrefix.test(word) || word.includes("***")) return true;
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(word)) return true;
  return word.split(/[^A-Za-z0-9]+/).some(isRandom);
}

function isRandom(part: string): boolean {
  if (part.length < 12 || !/\d/.test(part) || !/[a-z]/i.test(part)) return false;
  if (part.length >= 20) return true;
  // "a1" and "1a": how often letters and digits take turns.
  return (part.match(/[a-z]\d|\d[a-z]/gi) ?? []).length >= 2;
}
