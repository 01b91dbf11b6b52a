import { domains, privateDomains, scriptDomains, wordDomains } from "./domains.js";

/** In front of a colon and a number, these are no hosts; nor is a name of several words with one of them in it. */
const places = new Set(
  (
    "line lines column col char character position pos index offset row at status code error limit max min token tokens size " +
    "length len byte bytes count num step version http id top best seed temperature timeout penalty logprobs"
  ).split(" "),
);
/** Names of request members are no hosts either. */
const members = new Set(
  (
    "model messages input stream stream_options max_tokens max_completion_tokens max_output_tokens n dimensions system " +
    "encoding_format tools tool_choice parallel_tool_calls functions function_call reasoning_effort reasoning thinking"
  ).split(" "),
);

/** Where the path of a request's member begins. */
const roots = "messages|tools|input|response_format|functions|choices|properties|items|body|definitions|\\$defs";
/** Where that of a schema's member may begin, too. */
const keywords =
  "anyOf|oneOf|allOf|not|if|then|else|additionalProperties|patternProperties|propertyNames|prefixItems|additionalItems|contains|" +
  "enum|const|required|type|parameters|arguments|function|tool_calls|tool_choice|schema|json_schema|stream_options";
const pointer = new RegExp(`^#?/(?:${roots}|${keywords})(?:/[\\w$~-]+)*$`);
const memberPath = new RegExp(`^(?:${roots})\\b`);
const endpoint = /^(?:\/v1)?(?:\/(?:chat|completions|embeddings|models|responses))+$/;
const source = /\.(?:py|pyx|js|mjs|cjs|ts|tsx|go|rs|cpp|cc|cu|c|h|hpp|java|kt|rb|php|cs|so|dll|jinja)(?::\d+)*$/;
const addressV4 = /(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d)|^ip(?:-\d{1,3}){4}(?!\d)/i;

/** `host`, `host:port`, anything with an IPv4 address in it; not a date, a version, a member or the path of one. */
export function isHost(word: string): boolean {
  if (addressV4.test(word) || /^localhost(?::\d+)?$/i.test(word)) return true;
  const [name = "", port] = word.split(":");
  if (port === undefined) return isDomain(name);
  return isDomain(name) || (/^[a-z][\w.-]*:\d{2,5}$/i.test(word) && !isCounted(name));
}

export function isMemberPath(name: string): boolean {
  return memberPath.test(name);
}

/** A member of a request or a place in it, of which a number is told: `max_tokens:4096`. */
function isCounted(name: string): boolean {
  return (
    members.has(name) ||
    name
      .toLowerCase()
      .split("_")
      .some((part) => places.has(part)) ||
    memberPath.test(name)
  );
}

/** In a network of the operator's, as far as its name tells. */
export function isPrivateHost(host: string): boolean {
  const last = host.split(".").at(-1) ?? "";
  return !host.includes(".") || /^[\d.]+$|[[\]]/.test(host) || privateDomains.has(last.toLowerCase());
}

/** Of names with `_`, which are often those of members, only the ones of own networks. */
function isDomain(name: string): boolean {
  const labels = name
    .replace(/^[-_.]{1,64}/, "")
    .toLowerCase()
    .split(".");
  const last = labels.at(-1) ?? "";
  if (labels.length < 2 || memberPath.test(name) || !/^[\w.-]+$/.test(name)) return false;
  if (labels.some((label) => label === "")) return false;
  if (labels.some((label) => label.startsWith("xn--"))) return true;
  if (wordDomains.has(last)) return labels.length > 2 && /^[a-z0-9.-]+$/.test(name);
  return (name.includes("_") ? privateDomains : domains).has(last);
}

/** A host with letters that are not ASCII in it. */
export function isScriptHost(name: string): boolean {
  const last =
    name
      .toLowerCase()
      .split(/[.。．｡]/)
      .at(-1) ?? "";
  return /[^\0-\x7f]/.test(name) && (scriptDomains.has(last) || domains.has(last));
}

/** A file's path, with or without its place in it; not the path of a member, or of the gateway's own endpoints. */
export function isFilePath(word: string): boolean {
  if (/^(?:~|\.\.?)?\//.test(word)) return word.length > 1 && !pointer.test(word) && !endpoint.test(word);
  return source.test(word) && (word.includes("/") || /:\d+$/.test(word));
}

/** The first directories of files, by which these are told from the paths of members. */
const directories = new Set(
  (
    "app apps bin boot cache code config content data dev disk ebs efs etc export home host lib lib64 local media mnt models model " +
    "nfs nvme opt private proc project projects repo root run sbin scratch shared snap srv ssd storage sys system tmp users usr " +
    "var vol volume volumes weights work workdir workspace vllm users"
  ).split(" "),
);

/** The names in what may be the path of a member of the client's own: `city` and `name` of `/city/0/name`. */
export function namesInPointer(word: string): string[] {
  if (!/^(?:\/[A-Za-z_$][\w$-]{0,63}|\/\d{1,6}){1,16}$/.test(word)) return [];
  const names = word.split("/").filter((name) => /^\D/.test(name));
  return directories.has(names[0]?.toLowerCase() ?? "") ? [] : names;
}

const strongPrefix =
  /(?<![\w-])(?:(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|npm|r8|nvapi|pplx|fw|csk|xox[abprs]|github_pat)[-_][\w*-]{4,}|AIza[\w-]{6,}|(?:AKIA|ASIA)[A-Z0-9]{8,}|eyJ[\w-]{8,})/;
const weakPrefix = /(?<![\w-])(?:key|org|proj|acct|req|user|chatcmpl|run|thread)[-_](?=[\w*-]{0,64}[\d*])[\w*-]{4,}/;
/** Ids without a digit: longer than what "org-" stands before in prose, or with capitals in between. */
const letterId =
  /(?<![\w-])(?:(?:org|proj|acct)[-_][A-Za-z]{10,}|(?:org|proj|acct|req|chatcmpl)[-_](?=[A-Za-z]{0,64}[a-z][A-Z])[A-Za-z]{5,})(?![\w-])/;

/** A key, an account's or a request's id: by how it begins, by the stars in it, or by letters and digits that no word has. */
export function isKey(word: string): boolean {
  if (strongPrefix.test(word) || weakPrefix.test(word) || letterId.test(word) || word.includes("***")) return true;
  if (/(?<!\w)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?!\w)/i.test(word)) return true;
  return word.split(/[^A-Za-z0-9]+/).some(isRandom);
}

function isRandom(part: string): boolean {
  if (part.length < 12 || !/\d/.test(part) || !/[a-z]/i.test(part)) return false;
  if (part.length >= 20) return true;
  // "a1" and "1a": how often letters and digits take turns.
  return (part.match(/[a-z]\d|\d[a-z]/gi) ?? []).length >= 2;
}
