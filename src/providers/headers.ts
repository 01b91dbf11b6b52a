import { Buffer } from "node:buffer";
import { looksRandom, type UpstreamSecrets } from "../redaction/upstream-secrets.js";

const credential = /auth|key|token|secret|cookie|password|credential|signature|session/i;

/** Headers of the protocol, whose values are the same everywhere. */
const common = /^(?:content-type|accept|accept-language|user-agent|cache-control)$/i;

/** Values that must not get out. */
export type HeaderSecrets = UpstreamSecrets & { readonly keys: string[] };

/** What of the headers that an operator has given must not get out in an error. */
export function headerSecrets(headers: Readonly<Record<string, string>>): HeaderSecrets {
  const keys: string[] = [];
  const texts: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (common.test(name)) continue;
    texts.push(value);
    for (const part of value.split(/[\s;,]+/)) {
      if (/^(?:bearer|basic)$/i.test(part)) continue;
      if (credential.test(name) || looksRandom(part)) keys.push(part);
    }
    if (/^basic\s/i.test(value)) keys.push(...decodeBasic(value.slice("basic ".length)));
  }
  return { keys, texts };
}

function decodeBasic(encoded: string): string[] {
  return Buffer.from(encoded.trim(), "base64").toString("utf8").split(":");
}

/** What names and pays whoever calls, whatever a server calls it. @param name - in lower case. */
export function isCredentialHeader(name: string): boolean {
  return /^(?:proxy-)?authorization$|api-?key$|^cookie$/.test(name);
}

/** Of OpenAI: they belong to the key. */
const ofAccount: ReadonlySet<string> = new Set(["openai-organization", "openai-project"]);

/** Without those that stand for the operator. @param headers - names in lower case. */
export function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  const others = Object.entries(headers).filter(([name]) => !isCredentialHeader(name) && !ofAccount.has(name));
  return Object.fromEntries(others);
}

/** A field name (RFC 9110, section 5.1). */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

/** A field value that every transport sends the same way: visible ASCII, with spaces and tabs inside. */
export function isHeaderValue(text: string): boolean {
  return /^([!-~]([ \t!-~]*[!-~])?)?$/.test(text);
}
