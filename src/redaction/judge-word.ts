import type { OwnWords } from "./own-words.js";
import { isFilePath, isHost, isKey, isPrivateHost, isScriptHost, namesInPointer } from "./word-kinds.js";

/** What judges a word needs to know. */
export interface WordContext {
  own: OwnWords;
  /** Keeps a word of the client's own. Gives what stands for it in the text, in the order of the text. */
  keep: (word: string) => string;
}

/** Shorter parts tell nothing. */
const shortest = 4;

/**
 * A word of an upstream's, without the hosts, files, keys and persons in it, whatever stands before and behind them. It has
 * no white space, no quotes and no brackets. Linear in the word.
 */
export function judgeWord(whole: string, context: WordContext): string {
  const core = whole.slice(0, endOf(whole));
  const judged = core.length < shortest ? core : judgeCore(core, context);
  return judged === core ? whole : judged + whole.slice(core.length);
}

/** Without the marks of its sentence, and without the `-` of an arrow. */
function endOf(word: string): number {
  let end = word.length;
  while (end > 0 && ".,:;!?-".includes(word.charAt(end - 1))) end--;
  return end;
}

function judgeCore(core: string, context: WordContext): string {
  const slashes = core.indexOf("://");
  let start = slashes;
  while (start > 0 && /[a-z0-9+.-]/i.test(core.charAt(start - 1))) start--;
  if (start === slashes) return judgeParts(core, context);
  return judgeParts(core.slice(0, start), context) + judgeURL(core.slice(start), slashes - start, context);
}

function judgeURL(url: string, schemeLength: number, { own, keep }: WordContext): string {
  const rest = url.slice(schemeLength + 3);
  // A message that tells how an address must begin.
  if (!/[^/.*]/.test(rest)) return url;
  const authority = /^\/*([^/?#]*)/.exec(rest)?.[1] ?? "";
  const isPublic = /^https?:/i.test(url) && !isPrivateHost(hostOf(authority));
  return isPublic && own.has(url) ? keep(url) : "[url]";
}

function hostOf(authority: string): string {
  return authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d+$/, "");
}

/** A slash behind a letter or a digit is one of "and/or", "image/png" and "1/2"; one behind `#` is one of a pointer. */
const pathStart = /(?<![\p{L}\p{N}_.~#*])(?:~|\.\.?)?\/(?=[^/*])/u;

function judgeParts(text: string, context: WordContext): string {
  const start = text.search(pathStart);
  if (start < 0 || text.length - start < shortest) return judgeNames(text, context);
  const path = text.slice(start);
  const isPath = isFilePath(path) && !context.own.hasNames(namesInPointer(path));
  return judgeNames(text.slice(0, start), context) + (isPath ? "[path]" : path);
}

function judgeNames(text: string, context: WordContext): string {
  return text
    .split("=")
    .map((part) => judgePart(part, context))
    .join("=");
}

const person = /@[\w-]+(?:\.[\w-]+)+/;
const single = /^[\w.-]+(?::\d{2,5})?$/;
/** Of a setting with a colon, only the value is a key. */
const settingName = /^[A-Za-z_.-]+:(?!\d{2,5}$)/;

function judgePart(part: string, context: WordContext): string {
  if (part.length < shortest) return part;
  const name = settingName.exec(part)?.[0] ?? "";
  const value = part.slice(name.length);
  if (isFilePath(value)) return `${judgeHosts(name, context)}[path]`;
  if (person.test(part)) return "[redacted]";
  if (!isKey(part) || (single.test(part) && isHost(part))) return judgeHosts(part, context);
  if (isKey(name)) return context.own.has(part) ? context.keep(part) : "[redacted]";
  return judgeHosts(name, context) + (context.own.has(value) ? context.keep(value) : "[redacted]");
}

const hexGroup = "[0-9a-f]{1,4}";
const addressV6 =
  "(?<![0-9a-z])(?:(?=[0-9a-f:]{0,80}::)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,24}(?![0-9a-z])|" +
  `(?:${hexGroup}:){7}${hexGroup}(?![0-9a-z]))` +
  "(?:\\.\\d{1,3}){0,3}(?:%[\\w.-]{1,64})?";
const name = `[\\w.-]+(?::(?!${addressV6})\\d{2,5}(?!\\w|\\.\\d))?`;
/** What may be a name's port, or the first group of an address behind it. */
const portAhead = `(?=(:\\d{2,5}(?!\\w|\\.\\d))?)`;
const candidate = new RegExp(`(${addressV6})|${name}${portAhead}`, "gi");

/** Not what only stands before the `::` of a program's name. */
function isAddress(groups: string): boolean {
  return groups.includes("::") || groups.split(":").length === 8;
}

/** The text without its hosts and addresses; what a path or a query follows goes with it. */
function judgeHosts(whole: string, { own, keep }: WordContext): string {
  const text = isAsciiText(whole) ? whole : withoutScriptHosts(whole, own);
  let judged = "";
  let end = 0;
  for (const { 0: found, 1: address, 2: port = "", index } of text.matchAll(candidate)) {
    if (found.length < shortest) continue;
    if (!(address === undefined ? isHost(found) || isHost(found + port) : isAddress(address))) continue;
    judged += text.slice(end, index);
    end = index + found.length;
    if (address === undefined && !isPrivateHost(hostOf(found)) && own.has(found)) {
      judged += keep(found);
    } else if (/[/?#]/.test(text.charAt(end))) {
      return `${judged}[url]`;
    } else {
      judged += "[host]";
    }
  }
  return judged + text.slice(end);
}

const scriptName = /[\p{L}\p{N}-]{1,63}(?:[.。．｡][\p{L}\p{N}-]{1,63}){1,16}(?::\d{2,5})?/gu;

function withoutScriptHosts(text: string, own: OwnWords): string {
  return text.replace(scriptName, (found) =>
    isScriptHost(found.replace(/:\d+$/, "")) && !own.has(found) ? "[host]" : found,
  );
}

function isAsciiText(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}
