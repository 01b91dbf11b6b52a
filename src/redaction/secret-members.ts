import { redactedMark } from "./upstream-secrets.js";

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
export function withoutSecretMembers(text: string): string {
  return text.replace(member, (whole: string, ...groups: (string | undefined)[]) => {
    const [quote = "", name = "", sign = "", open = "", quoted, bare = ""] = groups;
    const value = quoted ?? bare;
    if (!isSecretName(name) || plain.test(value) || (prose.test(value) && !phrase.test(name))) return whole;
    return `${quote}${name}${quote}${sign}${open}${redactedMark}${open}`;
  });
}
