import { mayBeTold, ownWords, type WordContext } from "./judge-word.js";
import { maskSecrets, redactedMark, type UpstreamSecrets } from "./upstream-secrets.js";

/** What is known of the call in whose error a text is. */
export interface RedactContext {
  /** The upstream's name for the model. */
  upstreamModel: string;
  /** The client's name for it. */
  model: string;
  /** The provider's. */
  secrets?: (() => UpstreamSecrets) | undefined;
  /** What was sent to the upstream, if it is at hand: addresses and ids of the client's own are told to it. */
  request?: Uint8Array | undefined;
}

/** No message for a person is longer. */
const longestMessage = 1000;
/** So much is looked at: what is taken out leaves room for more. */
const longestText = 8192;
/** What may be part of a secret that was cut off. */
const longestTail = 512;

const modelMark = "\ue001";

/**
 * An upstream's text as a client may read it: numbers, the words that errors about requests are made of, the paths of members,
 * and names and addresses that the client sent itself, with the client's name for the model. All else is taken out, whatever
 * it looks like: it may be a key, a host, a file or a person.
 *
 * @returns an empty text where too little is left to be read.
 */
export function redact(text: string, context: RedactContext): string {
  const secrets = readSecrets(context.secrets);
  // A model's name may share a word with a key or a host.
  const named = withoutSettings(withoutSecretMembers(bounded(text)), false)
    .replace(wholeWord(context.model), modelMark)
    .replace(wholeWord(context.upstreamModel), modelMark);
  const told = withoutWords(withoutTraces(maskSecrets(named, secrets)), {
    own: ownWords(context.request),
    isVendor: secrets.isVendor === true,
  });
  return told
    .replaceAll(redactedMark, "[redacted]")
    .replaceAll(modelMark, () => context.model)
    .trim()
    .slice(0, longestMessage);
}

/** A letter, digit or sign as JSON may write it, but no quote and no backslash. */
const escapedLetter = /\\u00(2[013-9a-f]|[346][\da-f]|5[\dabd-f]|7[\da-e])/gi;

/** A text for the operator: without keys, but with hosts and files. */
export function redactKeys(text: string, secrets: (() => UpstreamSecrets) | undefined): string {
  const { keys, keyPrefixes } = readSecrets(secrets);
  // Of a member, the name tells: a part of it may be one of a key's.
  const plain = bounded(text).replace(escapedLetter, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const masked = maskSecrets(withoutSettings(withoutSecretMembers(plain), true), { keys, keyPrefixes });
  const words = masked.replace(word, (each) => (isKey(each) ? redactedMark : each));
  return words.replaceAll(redactedMark, "[redacted]");
}

/** A provider of the host's may fail at it. */
function readSecrets(secrets: (() => UpstreamSecrets) | undefined): UpstreamSecrets {
  try {
    return secrets?.() ?? {};
  } catch {
    return {};
  }
}

function bounded(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a message
  const clean = (part: string) => part.replace(/[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f\ue000-\ue001]/g, " ");
  if (text.length <= longestText) return clean(text);
  const cut = text.slice(0, longestText);
  const tail = cut.slice(-longestTail).search(/\s\S*$/);
  return clean(cut.slice(0, longestText - longestTail + Math.max(0, tail)));
}

const word = /[^\s"'`<>{}()[\],;|\ue000\ue001]+/g;

/** What stands between two words that are taken out, and what of a number behind one. */
const crowd =
  /\ue000(?:(?:[^\p{L}\p{N}\ue001.!?]|\b(?:is|was|are|of|at|on|to)\b){0,16}(?:\ue000|\d+(?:[.,:]\d+)*(?![\p{L}\p{N}])))+/gu;

function withoutWords(text: string, context: WordContext): string {
  let kept = 0;
  let taken = 0;
  const judged = text.replace(word, (each) => {
    const isTold = mayBeTold(each, context);
    if (!isTold) taken++;
    else if (/\p{L}/u.test(each)) kept++;
    if (isTold) return each;
    return redactedMark + (/[.,:!?]+$/.exec(each)?.[0] ?? "");
  });
  return taken > kept ? "" : judged.replace(crowd, redactedMark);
}

const setting =
  /([?&]?)(?<![\w.-])([\w.-]{1,64})(\s{0,4}[=:]\s{0,4}["']?(?:(?:bearer|basic|token)\s{1,4})?)([^\s"'`,;&(){}[\]<>\ue000\ue001]+)/gi;
const scheme = /\b(bearer|basic)(\s{1,4})([\w.~+/=*-]{4,})/gi;

/**
 * The text without what only the name before it tells to be secret. Behind a scheme, a short word of letters is prose:
 * "Bearer authentication".
 * @param inQueries - also in those of addresses, which a client may have sent itself.
 */
function withoutSettings(text: string, inQueries: boolean): string {
  return text
    .replace(scheme, (whole, name: string, space: string, value: string) =>
      /^[A-Z]?[a-z]{1,14}\.?$/.test(value) ? whole : `${name}${space}${redactedMark}`,
    )
    .replace(setting, (whole, ...[query, name, sign, value]: [string, string, string, string]) => {
      if (query !== "" && !inQueries) return whole;
      if (/^(?:\d{1,3}|null|true|false|none|undefined)\.?$/i.test(value)) return whole;
      const isSecret = isSecretName(name) || (sign.includes("=") && /(?:pass|auth|session|key)$/i.test(name));
      return isSecret ? `${query}${name}${sign}${redactedMark}` : whole;
    });
}

function wholeWord(text: string): RegExp {
  if (text === "") return /(?!)/;
  return new RegExp(`(?<![\\w.-])${text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}(?![\\w-])`, "gi");
}

/** Words that end the name of a secret. */
const secrets: ReadonlySet<string> = new Set(
  (
    "password passwd passphrase passcode pwd secret secrets credential credentials authorization cookie cookies jwt bearer " +
    "apikey accesskey secretkey privatekey authtoken accesstoken refreshtoken sessionid signature sig otp pin sas hmac"
  ).split(" "),
);
/** Of these, only the word before tells: a secret is an `api_key`, and none a `primary_key`. */
const secretKeys: ReadonlySet<string> = new Set(
  (
    "api access secret private auth master signing encryption shared account storage subscription service admin client " +
    "license session app application x function host root user encrypted"
  ).split(" "),
);
const secretIds: ReadonlySet<string> = new Set(["session", "key", "token", "secret"]);
/** Tokens that are counted, or that a tokenizer has. */
const countedTokens: ReadonlySet<string> = new Set(
  "max min stop eos bos pad unk sep mask cls next first last special per each end start image audio text input output".split(
    " ",
  ),
);

/** Whether a member of this name holds a secret, whatever it looks like. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  const before = words.at(-2) ?? "";
  if (secrets.has(last)) return true;
  if (last === "token") return !countedTokens.has(before);
  if (last === "key") return secretKeys.has(before);
  return last === "id" && secretIds.has(before);
}

/** Of a JSON object, or of what Python writes for one, also within a string. */
const member =
  /(\\{0,4}["'])([\w.$ -]{1,64})\1(\s{0,8}[:=]\s{0,8}\[?\s{0,8})(?:(\\{0,4}["'])(?!\4)((?:\\[\s\S]|[^\\]){1,512}?)(?:\4|$)|([\w.+/=-]{1,512}))/g;

const plain = /^(?:null|true|false|none|undefined|nan)$/i;
/** A sentence about the member. Of passwords, some are sentences. */
const prose = /^[A-Z]?[a-z']+(?: [\w'.,-]+){1,40}\.?$/;
const phrase = /pass|pwd/i;

/** The text without the values of members that are secrets by their name. */
function withoutSecretMembers(text: string): string {
  return text.replace(member, (whole: string, ...groups: (string | undefined)[]) => {
    const [quote = "", name = "", sign = "", open = "", quoted, bare = ""] = groups;
    const value = quoted ?? bare;
    if (!isSecretName(name) || plain.test(value) || (prose.test(value) && !phrase.test(name))) return whole;
    return `${quote}${name}${quote}${sign}${open}${redactedMark}${open}`;
  });
}

const strongPrefix =
  /(?<![\w-])(?:(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|npm|r8|nvapi|pplx|fw|csk|xox[abprs]|github_pat)[-_][\w*-]{4,}|AIza[\w-]{6,}|(?:AKIA|ASIA)[A-Z0-9]{8,}|eyJ[\w-]{8,})/;
const weakPrefix = /(?<![\w-])(?:key|org|proj|acct|req|user|chatcmpl|run|thread)[-_](?=[\w*-]{0,64}[\d*])[\w*-]{4,}/;
/** Ids without a digit: longer than what "org-" stands before in prose, or with capitals in between. */
const letterId =
  /(?<![\w-])(?:(?:org|proj|acct)[-_][A-Za-z]{10,}|(?:org|proj|acct|req|chatcmpl)[-_](?=[A-Za-z]{0,64}[a-z][A-Z])[A-Za-z]{5,})(?![\w-])/;

/** A key, an account's or a request's id: by how it begins, by the stars in it, or by letters and digits that no word has. */
function isKey(word: string): boolean {
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
function withoutTraces(text: string): string {
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
