import { judgeWord, type WordContext } from "./judge-word.js";
import { withoutNamedHosts } from "./named-hosts.js";
import { ownWords } from "./own-words.js";
import { withoutSecretMembers } from "./secret-members.js";
import { maskSecrets, redactedMark, type UpstreamSecrets } from "./upstream-secrets.js";
import { withoutTraces } from "./without-traces.js";
import { isKey } from "./word-kinds.js";

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
const ownMark = "\ue002";

/**
 * An upstream's text as a client may read it: without the provider's secrets and hosts and parts of them, without what looks
 * like a key, a host, a file or a stack trace, and with the client's name for the model. What a client needs to mend its
 * request stays: members and their paths, numbers, dates, and addresses and ids that it sent itself.
 */
export function redact(text: string, context: RedactContext): string {
  // First of all: a model's name may share a word with a key or a host.
  const named = bounded(text)
    .replace(wholeWord(context.model), modelMark)
    .replace(wholeWord(context.upstreamModel), modelMark);
  const masked = withoutTraces(maskSecrets(named, readSecrets(context.secrets)))
    // Whoever is at a host of the provider's, and how one speaks to it.
    .replace(/[\w.+-]{1,64}@(?=\ue000)/g, "")
    .replace(/\b[a-z][a-z0-9+.-]{1,10}:\/\/(?=\ue000)/gi, "");
  const own: string[] = [];
  const keep = (word: string) => {
    own.push(word);
    return ownMark;
  };
  const requested = ownWords(context.request);
  const told = withoutNamedHosts(withoutSecretMembers(masked), requested);
  const judged = redactPhrases(redactWords(told, { own: requested, keep }));
  return judged
    .replaceAll(redactedMark, "[redacted]")
    .replaceAll(modelMark, () => context.model)
    .replaceAll(ownMark, () => own.shift() ?? "")
    .replace(/(?:\[redacted\]){2,}/g, "[redacted]")
    .trim()
    .slice(0, longestMessage);
}

/** A text for the operator: without keys, but with hosts and files. */
export function redactKeys(text: string, secrets: (() => UpstreamSecrets) | undefined): string {
  const { keys, keyPrefixes } = readSecrets(secrets);
  const masked = withoutSecretMembers(maskSecrets(bounded(text), { keys, keyPrefixes }));
  const words = masked.replace(word, (each) => (isKey(each) ? redactedMark : each));
  return redactPhrases(words).replaceAll(redactedMark, "[redacted]");
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
  const clean = (part: string) => part.replace(/[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f\ue000-\ue002]/g, " ");
  if (text.length <= longestText) return clean(text);
  const cut = text.slice(0, longestText);
  const tail = cut.slice(-longestTail).search(/\s\S*$/);
  return clean(cut.slice(0, longestText - longestTail + Math.max(0, tail)));
}

const word = /[^\s"'`<>{}()[\],;|\ue000-\ue002]+/g;
const bracketedHost =
  /(?:[a-z][a-z0-9+.-]{1,10}:\/\/)?\[(?=[0-9a-f]{0,4}:[0-9a-f]{0,4}:)[0-9a-f:.]{2,45}(?:%[\w.-]{1,64})?\](?::\d+)?[^\s"'<>]*/gi;
const windowsPath = /\b[A-Za-z]:\\[^\s"'<>|]+|\\\\[\w.-]+\\[^\s"'<>|]+/g;

function redactWords(text: string, context: WordContext): string {
  return text
    .replace(bracketedHost, "[host]")
    .replace(windowsPath, "[path]")
    .replace(word, (whole) => judgeWord(whole, context));
}

const setting =
  /([\w.-]{0,64}?(?:key|token|secret|pass(?:w(?:or)?d|phrase)?|pwd|signature|sig|credentials?|authorization|cookie|session|auth))(["']?\s{0,4}[=:]\s{0,4}["']?(?:(?:bearer|basic|token)\s{1,4})?)([^\s"'`,;&(){}[\]<>\ue000-\ue002]+)/gi;
const scheme = /\b(bearer|basic)(\s{1,4})([\w.~+/=*-]{4,})/gi;

/** What only the words before it tell to be secret. Behind a scheme, a short word of letters is prose: "Bearer authentication". */
function redactPhrases(text: string): string {
  return text
    .replace(scheme, (whole, name: string, space: string, value: string) =>
      /^[A-Z]?[a-z]{1,14}\.?$/.test(value) ? whole : `${name}${space}[redacted]`,
    )
    .replace(setting, (whole, name: string, sign: string, value: string) => {
      const isPlain = /^(?:\d{1,6}|null|true|false|none|undefined)\.?$/i.test(value);
      const tells = sign.includes("=") ? !isPlain : value.length >= 6 && /\d/.test(value) && /[a-z]/i.test(value);
      return tells ? `${name}${sign}[redacted]` : whole;
    });
}

function wholeWord(text: string): RegExp {
  if (text === "") return /(?!)/;
  return new RegExp(`(?<![\\w.-])${text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}(?![\\w-])`, "gi");
}
