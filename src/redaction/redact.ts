import { isKey } from "./is-key.js";
import { mayBeTold, type WordContext } from "./judge-word.js";
import { ownWords } from "./own-words.js";
import { isSecretName, withoutSecretMembers } from "./secret-members.js";
import { maskSecrets, redactedMark, type UpstreamSecrets } from "./upstream-secrets.js";
import { withoutTraces } from "./without-traces.js";

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
