/**
 * Writes what `textTokens` knows of the tokenizers, `src/tokens/word-list.ts` and `src/tokens/joined-pairs.ts`, anew:
 * `npm run tokens:tables`. It takes some minutes.
 */
import { writeFileSync } from "node:fs";
import { mostRealTokens } from "../../support/real-tokenizers.js";
import { vocabularies } from "./vocabularies.js";

const entriesOfList = 12_000;
const longestWord = 12;

const all = Object.values(vocabularies).map((read) => new Set(read()));
const isInAll = (text: string) => all.every((vocabulary) => vocabulary.has(text));
const tokensOf = (text: string) => mostRealTokens(text).tokens;

const marks = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index)).filter(
  (character) => !/[A-Za-z0-9]/.test(character),
);
const others = ["\n", "\r", "\t", "0", "7"];

/** 0: it is no single token. 1: it is one behind a single space, and two at most elsewhere. 2: it is one everywhere. */
function stateOf(word: string): 0 | 1 | 2 {
  if (!isInAll(` ${word}`) || tokensOf(` ${word}`) > 1) return 0;
  for (const behind of [...marks, ...others]) if (tokensOf(` ${word}${behind}`) > 2) return 0;
  let most = isInAll(word) ? tokensOf(word) : 2;
  // Of several spaces, Gemma makes a token that leaves none for the word; o200k takes `'d` for a part of what is before it.
  for (const before of [...marks, ...others, "  ", "   ", "a'", "A'"]) {
    most = Math.max(most, tokensOf(`${before}${word}`) - tokensOf(before));
    if (most > 2) return 0;
  }
  return most === 1 ? 2 : 1;
}

/** By the word in small letters: the states of itself, with a capital in front, and in capitals. */
function readWords(): Map<string, number[]> {
  const words = new Map<string, number[]>();
  let entries = 0;
  for (const token of vocabularies["o200k"]?.() ?? []) {
    const [, word = ""] = /^ ([A-Z]?[a-z]+|[A-Z]{2,})$/.exec(token) ?? [];
    if (word.length < 2 || word.length > longestWord) continue;
    const state = stateOf(word);
    if (state === 0) continue;
    const shape = /^[a-z]/.test(word) ? 0 : /[a-z]/.test(word) ? 1 : 2;
    const states = words.get(word.toLowerCase()) ?? [0, 0, 0];
    states[shape] = state;
    words.set(word.toLowerCase(), states);
    if (++entries === entriesOfList) break;
  }
  return words;
}

/** Each word by how many letters it begins with like the one before it, its other letters, and a capital for its states. */
function writeWords(words: Map<string, number[]>): string {
  let last = "";
  let text = "";
  for (const [word, [plain = 0, capital = 0, capitals = 0]] of [...words].sort(([one], [other]) =>
    one < other ? -1 : 1,
  )) {
    let shared = 0;
    while (shared < 9 && shared < last.length && last[shared] === word[shared]) shared++;
    text += `${shared}${word.slice(shared)}${String.fromCharCode(0x40 + plain * 9 + capital * 3 + capitals)}`;
    last = word;
  }
  return text;
}

/** A bit for each two characters of `!` to `~`, a base-64 digit for six of them: whether every tokenizer joins the two. */
function writePairs(): string {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const isLetter = (character: string) => /[A-Za-z]/.test(character);
  const characters = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
  let text = "";
  let bits = 0;
  let count = 0;
  for (const one of characters) {
    for (const other of characters) {
      const isOfOneKind = isLetter(one) === isLetter(other) && !/[0-9 ]/.test(one + other);
      const isJoined = (one === " " ? /[^0-9 ]/.test(other) : isOfOneKind) && tokensOf(one + other) === 1;
      bits = (bits << 1) | (isJoined ? 1 : 0);
      if (++count % 6 !== 0) continue;
      text += digits[bits];
      bits = 0;
    }
  }
  return `${text}${digits[bits << (6 - (count % 6))]}`;
}

function write(name: string, comment: string, text: string): void {
  const lines = text.match(/.{1,118}/g) ?? [];
  writeFileSync(
    new URL(`../../../src/tokens/${name}.ts`, import.meta.url),
    `/**\n${comment}\n * Written by \`test/e2e/token-search/make-tables.ts\`.\n */\nexport const ${name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())} = \`\n${lines.join("\n")}\n\`;\n`,
  );
}

write(
  "joined-pairs",
  " * Whether o200k, cl100k, Llama 3, Qwen 3 and Gemma 3 all join two characters of ASCII: a bit for each two of those from\n * the space to `~`, row by row, six to a base-64 digit.",
  writePairs(),
);
write(
  "word-list",
  " * Words that are one token for o200k, cl100k, Llama 3, Qwen 3 and Gemma 3, in order. A digit is the number of letters\n * that a word shares with the one before it. A capital ends it. Its place in the alphabet is a sum: nine times the state\n * in small letters, three times the state with a capital in front, and the state in capitals. State 1 is one token\n * behind a single space and two elsewhere, 2 is one everywhere.",
  writeWords(readWords()),
);
