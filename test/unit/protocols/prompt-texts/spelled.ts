import { Buffer } from "node:buffer";

/** Where a choice is to be made: numbers from 0 to 9. */
export type Pick = Iterator<number>;

const spaces = ["", "", "", "", "", "", " ", "\n", "\t ", "\r\n"];

/** JSON in one of the many ways in which it can be written: with white space, and with letters as escapes. */
export function spelled(json: unknown, pick: Pick): Buffer {
  return Buffer.from(write(json, pick));
}

function write(value: unknown, pick: Pick): string {
  const space = () => spaces[next(pick)] ?? "";
  if (typeof value === "string") return writeText(value, pick);
  if (Array.isArray(value))
    return `[${space()}${value.map((each) => write(each, pick) + space()).join(`,${space()}`)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => {
    // The gateway refuses escapes in the request's own names.
    return `${JSON.stringify(name)}${space()}:${space()}${write(member, pick)}${space()}`;
  });
  return `{${space()}${members.join(`,${space()}`)}}`;
}

function writeText(text: string, pick: Pick): string {
  const isEscaped = next(pick) === 0;
  const json = JSON.stringify(text);
  return isEscaped ? json.replace(/(?<!\\|\\u[0-9a-f]*)[a-z]/g, (letter) => escaped(letter)) : json;
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function next(pick: Pick): number {
  return Number(pick.next().value);
}
