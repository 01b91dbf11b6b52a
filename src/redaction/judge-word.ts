import { isErrorWord } from "./is-error-word.js";
import type { OwnWords } from "./own-words.js";

/** What judges a word needs to know. */
export interface WordContext {
  readonly own: OwnWords;
  /** Whether any plain word may be told: the server is its vendor's own. */
  readonly isVendor: boolean;
}

const number = /^[-+<>=~]{0,2}\d{1,10}(?:[.,x]\d{1,10})?(?:e[-+]?\d{1,3})?(?:%|[a-z]{1,3})?$/i;
const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?)?$|^\d\d:\d\d(?::\d\d)?$/;
/** A word, or several of a type's or a member's name: `ValueError`, `additionalProperties`. */
const hump = /^[A-Za-z]?[a-z]*$|^[A-Z]+$/;
const plainWord = /^(?:[A-Z]?[a-z]{1,24}|[A-Z]{1,24})$/;
/** The same in any language, and several of them where no white space stands between words. */
const foreignWords = /^(?:\p{Lu}?[\p{Ll}\p{M}]{1,24}|[\p{Lo}\p{Lm}\p{M}，。：、；！？（）「」]{1,200})$/u;
const mediaType = /^(?:image|audio|video|text|application)\/[\w.+-]{1,64}$/i;

/** Where the path of a member begins; other names with dots in them may be hosts. */
const roots: ReadonlySet<string> = new Set(
  (
    "messages message tools tool input inputs response_format functions function choices properties items body definitions " +
    "$defs schema json_schema parameters arguments content system prompt documents text reasoning thinking metadata " +
    "usage stream model output_config stream_options tool_choice tool_calls anyOf oneOf allOf additionalProperties contents " +
    "GenerateContentRequest ChatRequest"
  ).split(" "),
);

/**
 * Whether a client may read a word of an upstream's error, which has no white space, no quotes and no brackets. It may be a
 * number, a word that errors about requests are made of, the path of a member, or what the client has sent itself.
 */
export function mayBeTold(word: string, context: WordContext): boolean {
  const core = word.replace(/^[-.:!?*=>~#]{1,8}/, "").replace(/[.:!?/*=>~-]{1,8}$/, "");
  if (!/[\p{L}\p{N}]/u.test(core)) return !/[\p{L}\p{N}\p{M}]/u.test(word);
  if (number.test(core) || date.test(core)) return true;
  if (plainWord.test(core)) return context.isVendor || isErrorWord(core.toLowerCase()) || context.own.has(core);
  if (context.isVendor && foreignWords.test(core)) return true;
  if (mediaType.test(core) && context.own.has(core)) return true;
  return isOwn(core, context.own) || isCompound(core, context.own, word.startsWith("."));
}

/** Names, ids and public addresses; not what a client may only guess: addresses and files of networks, and persons. */
function isOwn(core: string, own: OwnWords): boolean {
  if (/^https?:\/\//i.test(core)) return !isPrivate(core) && own.has(core);
  return /^[\p{L}\p{N}_.$-]+$/u.test(core) && !/^\d[\d.]*$/.test(core) && !isPrivate(core) && own.has(core);
}

/** Of a network of the operator's, as far as a name tells. */
function isPrivate(text: string): boolean {
  const host = /^(?:[a-z]+:\/\/)?([^/?#]*)/i.exec(text)?.[1] ?? "";
  if (/^[\d.:]+$|[[\]@]/.test(host)) return true;
  const name = host.replace(/:\d+$/, "");
  if (/:\/\//.test(text) && !name.includes(".")) return true;
  return /\.(?:local|internal|svc|lan|corp|intranet|intra|home|localdomain|cluster|consul|private|localhost)$/i.test(
    name,
  );
}

/** Addresses, files, hosts such as "node-7", and numbers in many parts. */
const noCompound = /[@\\%~]|\.\.|:\/\/|::|\d(?:[.:-]\d+){2}|(?:[0-9a-f]{1,4}:){4}|(?<!\b(?:utf|iso|base))[a-z]-\d/i;

/**
 * Several words and numbers with signs between them: `max_tokens=5`, `and/or`, `messages.0.role`.
 * @param isPath - it goes on with a path: `.image_url.url`, behind a bracket.
 */
function isCompound(core: string, own: OwnWords, isPath: boolean): boolean {
  if (noCompound.test(core)) return false;
  return core.split(/[=:,+&>]+/).every((part) => part === "" || isMember(part, own, isPath));
}

/** A name, the path of a member, or several words. */
function isMember(text: string, own: OwnWords, goesOn: boolean): boolean {
  if (number.test(text) || /^(?:e\.g|i\.e)$/i.test(text) || isOwn(text, own)) return true;
  const isPath = /^#?\//.test(text) || /[\p{L}_]\.|\.[\p{L}_]/u.test(text);
  const [first = "", ...others] = text.split(/[./]+/).filter((part) => part !== "" && part !== "#");
  if (isPath && !goesOn && !roots.has(first)) return false;
  return isNames(first) && others.every((part) => isNames(part) || own.has(part));
}

function isNames(text: string): boolean {
  return text.split(/[^\p{L}\p{N}]+/u).every((part) => part === "" || isKnown(part));
}

function isKnown(part: string): boolean {
  if (/^\d{1,10}[a-z]{0,2}$/i.test(part) || /^v\d{1,3}$/i.test(part)) return true;
  const lower = part.toLowerCase();
  if (isErrorWord(lower) || isErrorWord(lower.replace(/(?<=^[a-z]{2,8})\d{1,3}$/, ""))) return true;
  const humps = part.split(/(?<=[a-z])(?=[A-Z])/);
  return humps.length > 1 && humps.every((each) => hump.test(each) && isErrorWord(each.toLowerCase()));
}
