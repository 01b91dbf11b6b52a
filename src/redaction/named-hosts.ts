import type { OwnWords } from "./own-words.js";
import { isMemberPath } from "./word-kinds.js";

/** What stands before the name of a host, whatever domain that one is in. */
const named =
  /\b(via|host(?:name)?|proxy|upstream|resolve|connect(?:ing|ion|ed)? to)([\s:="'`(]{1,3})((?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}[a-z][a-z0-9-]{1,62}(?::\d{2,5})?)(?![\w.-]*\w)/gi;

/** What the system says of a name that it does not find. */
const notFound =
  /\b(getaddrinfo|ENOTFOUND|EAI_AGAIN|no such host:?)(\s{1,4})(?!ENOTFOUND|EAI_AGAIN)([a-z0-9][\w.-]{1,253})/gi;

/** Ends of file names, and of names in programs. */
const fileEnd =
  /\.(?:json|jsonl|txt|pdf|png|jpe?g|gif|webp|csv|xml|html?|ya?ml|toml|md|wav|mp3|mp4|zip|bin|safetensors|gguf)$/i;

/** The text without the hosts that the words before them tell to be such. */
export function withoutNamedHosts(text: string, own: OwnWords): string {
  return text
    .replace(named, (whole, before: string, between: string, name: string) => {
      const isShort = name.split(".").length < 3 && /^(?:upstream|resolve|proxy)$/i.test(before);
      if (isShort || isMemberPath(name) || fileEnd.test(name) || own.has(name)) return whole;
      return `${before}${between}[host]`;
    })
    .replace(notFound, (whole, before: string, space: string, name: string) =>
      own.has(name) ? whole : `${before}${space}[host]`,
    );
}
