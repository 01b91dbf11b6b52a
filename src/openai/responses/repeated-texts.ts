import { Buffer } from "node:buffer";
import type { ByteWriter } from "../../wire/byte-writer.js";

/** Shorter texts are written anew each time, in UTF-16 code units. */
const longText = 512;

/** Members of events in which the texts of an answer stand. */
const holders: ReadonlySet<string> = new Set(["response", "output", "item", "content", "summary", "part"]);

/** Writes the events at the end of a response, each of which repeats texts: a long one is turned into JSON once. */
export class RepeatedTexts {
  readonly #written = new Map<string, Buffer>();

  /** Writes what `JSON.stringify` gives. @param before - goes out before it, and `behind` behind it. */
  write(out: ByteWriter, event: object, before: string, behind: string): void {
    out.writeText(this.#writeValue(out, event, before) + behind);
  }

  /** @param before - what is still to be written. @returns the same behind the value. */
  #writeValue(out: ByteWriter, value: unknown, before: string): string {
    if (typeof value === "string" && value.length >= longText) {
      out.writeText(before);
      out.write(this.#jsonOf(value));
      return "";
    }
    if (typeof value !== "object" || value === null) return before + JSON.stringify(value);
    return Array.isArray(value)
      ? this.#writeList(out, value, before)
      : this.#writeObject(out, value as Record<string, unknown>, before);
  }

  #writeList(out: ByteWriter, list: readonly unknown[], before: string): string {
    let text = `${before}[`;
    for (let index = 0; index < list.length; index++) {
      text = this.#writeValue(out, list[index], index === 0 ? text : `${text},`);
    }
    return `${text}]`;
  }

  #writeObject(out: ByteWriter, object: Record<string, unknown>, before: string): string {
    let text = before;
    let next = "{";
    for (const name of Object.keys(object)) {
      const value = object[name];
      if (value === undefined) continue;
      text += `${next}${JSON.stringify(name)}:`;
      next = ",";
      const isText = typeof value === "string" || holders.has(name);
      text = isText ? this.#writeValue(out, value, text) : text + JSON.stringify(value);
    }
    return next === "{" ? `${text}{}` : `${text}}`;
  }

  #jsonOf(text: string): Buffer {
    let json = this.#written.get(text);
    if (json === undefined) {
      json = Buffer.from(JSON.stringify(text));
      this.#written.set(text, json);
    }
    return json;
  }
}
