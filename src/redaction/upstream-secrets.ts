/** What a provider would not have clients read. What may be a key, a host or a path is kept out of error texts anyway. */
export interface UpstreamSecrets {
  /** Keys and the like: no part of them of six characters or more is passed on, and none is written into a warning. */
  readonly keys?: readonly string[] | undefined;
  /**
   * How keys begin, such as `acme_live_`. No word is passed on, and none is written into a warning, that begins so and goes
   * on with four characters or more, a digit or a star among them. Behind a prefix without `_` or `-` at its end, it takes
   * sixteen characters.
   */
  readonly keyPrefixes?: readonly string[] | undefined;
  /** Texts that are not passed on as a whole. */
  readonly texts?: readonly string[] | undefined;
  /** Addresses: neither their hosts nor the telling parts of these, nor their paths and the values of their queries. */
  readonly urls?: readonly string[] | undefined;
  /**
   * Whether the server is its vendor's own, such as `api.openai.com`. Clients read the plain words of its errors about their
   * requests. Of any other server's, they read those alone that errors about requests are made of. Default: `false`.
   */
  readonly isVendor?: boolean | undefined;
}

/** Those of a provider, and what one call hides beside them. */
export function withSecrets(all: UpstreamSecrets = {}, more: UpstreamSecrets | undefined): UpstreamSecrets {
  if (more === undefined) return all;
  const { keys = [], texts = [] } = all;
  return { ...all, keys: [...keys, ...(more.keys ?? [])], texts: [...texts, ...(more.texts ?? [])] };
}

/** What stands in a text for what was taken out, until all of it has been looked through. */
export const redactedMark = "\ue000";

/** So many characters of a key in a row are a part of it, and not a coincidence. */
const partLength = 6;
const shortestText = 4;
/** So many letters in a row are no word, whatever stands before them. */
const wholeKeyLength = 40;
const distinctLength = 8;

/** The text with a mark in the place of each secret, and of each part of one that tells. Linear in the text. */
export function maskSecrets(
  text: string,
  { keys = [], keyPrefixes = [], texts = [], urls = [] }: UpstreamSecrets,
): string {
  const parts = urls.map(readAddress);
  const allKeys = [...keys, ...parts.flatMap((part) => part.keys)];
  const wholes = [
    ...texts,
    ...allKeys.filter((key) => key.length < partLength),
    ...parts.flatMap((part) => part.texts),
  ];
  return maskWords(
    maskParts(maskPrefixed(text, keyPrefixes), allKeys),
    [...wholes, ...parts.flatMap((part) => part.words)].filter((whole) => whole.length >= shortestText),
  );
}

/** Marks the words that begin like a key, and do not go on like a word of prose. */
function maskPrefixed(text: string, prefixes: readonly string[]): string {
  return prefixes
    .filter((prefix) => prefix !== "" && text.includes(prefix))
    .reduce((masked, prefix) => {
      const least = /[_-]$/.test(prefix) ? 4 : 16;
      const rest = `(?:(?=[\\w*-]{0,64}[\\d*])[\\w*-]{${least},}|[A-Za-z0-9]{${wholeKeyLength},})`;
      return masked.replace(new RegExp(`(?<![\\w-])${exactly(prefix)}${rest}`, "g"), redactedMark);
    }, text);
}

function exactly(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** Marks every run of characters, with the word that it is in, that shares six in a row with a key. */
function maskParts(text: string, keys: readonly string[]): string {
  const known = new Set<string>();
  for (const key of keys) {
    const lower = inLowerCase(key);
    for (let start = 0; start + partLength <= lower.length; start++) known.add(lower.slice(start, start + partLength));
  }
  if (known.size === 0) return text;
  const same = inLowerCase(text);
  let masked = "";
  let kept = 0;
  for (let start = 0; start + partLength <= same.length; start++) {
    if (!known.has(same.slice(start, start + partLength))) continue;
    let from = start;
    while (from > kept && isWordCharacter(text.charCodeAt(from - 1))) from--;
    let to = start + partLength;
    while (
      to < text.length &&
      (known.has(same.slice(to - partLength + 1, to + 1)) || isWordCharacter(text.charCodeAt(to)))
    ) {
      to++;
    }
    // A key may be made of words, as in tests: one of them alone, which is also a word of many messages, gives nothing away.
    if (isCommonWord(text.slice(from, to))) {
      start = to - 1;
      continue;
    }
    masked += text.slice(kept, from) + redactedMark;
    kept = to;
    start = to - 1;
  }
  return masked + text.slice(kept);
}

/** Of the same length, which letters of other scripts do not always keep. */
function inLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Letters, digits, `_`, `-` and the `*` of a masked key. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    code === 0x2d ||
    code === 0x2a
  );
}

/**
 * The longest first, so that of a host and its parts the host goes as one. What is long and no mere word is found within
 * longer words, too.
 */
function maskWords(text: string, words: readonly string[]): string {
  if (words.length === 0) return text;
  const escaped = [...new Set(words)]
    .sort((one, other) => other.length - one.length)
    .map((word) => {
      const exact = exactly(word);
      return word.length >= distinctLength && /[^a-z]/i.test(word) ? exact : `(?<!\\w-?)${exact}(?!-?\\w)`;
    });
  return text.replace(new RegExp(escaped.join("|"), "gi"), redactedMark);
}

function readAddress(url: string): { keys: string[]; texts: string[]; words: string[] } {
  if (!URL.canParse(url)) return { keys: [], texts: [url], words: [] };
  const { host, hostname, pathname, searchParams, username, password } = new URL(url);
  const labels = /^[\d.]+$|^\[/.test(hostname) ? [] : hostname.split(".");
  const domains = labels.map((_, index) => labels.slice(index).join(".")).slice(0, -1);
  const beginnings = labels.map((_, index) => labels.slice(0, index + 1).join(".")).slice(1);
  const path = pathname.replace(/\/+$/, "");
  const segments = path.split("/").filter((segment) => segment !== "");
  const values = [...searchParams.values(), username, password].filter((value) => value !== "");
  return {
    keys: values.filter(looksRandom),
    texts: [host, hostname, ...domains, ...beginnings, ...values.filter((value) => !looksRandom(value))],
    words: [...labels, ...segments].filter(isTelling).concat(segments.some(isTelling) ? [path] : []),
  };
}

/** Neither a common word nor too short to be told from one. */
function isTelling(name: string): boolean {
  if (isCommonWord(name)) return false;
  return name.length >= partLength || (name.length >= shortestText && /\d/.test(name) && /[a-z]/i.test(name));
}

/** Letters and digits mixed, as no word is. */
export function looksRandom(text: string): boolean {
  return (
    text.length >= 8 && /\d/.test(text) && /[a-z]/i.test(text) && !/[\s/]/.test(text) && !/^\d{4}-\d\d-\d\d/.test(text)
  );
}

/** Whether it says nothing of whoever uses it. */
export function isCommonWord(text: string): boolean {
  return commonWords.has(text.toLowerCase());
}

/** In hosts and paths of model servers, and in what these say to clients as well. */
const commonWords = new Set(
  (
    "openai azure mistral mistralai openrouter deepseek anthropic google googleapis groqcloud ollama localhost llama llamacpp " +
    "together fireworks amazonaws amazon bedrock cognitiveservices vertex gemini replicate cohere perplexity huggingface " +
    "internal cluster default service services server servers backend gateway upstream inference proxy engine worker " +
    "public private production staging example invalid network online region global " +
    "model models chat completion completions embedding embeddings deployment deployments openai/v1 version messages input " +
    "tools stream stream_options max_tokens max_completion_tokens temperature top_p response_format reasoning_effort " +
    "content function functions system assistant developer prompt tokens tokenizer context request response"
  ).split(" "),
);
