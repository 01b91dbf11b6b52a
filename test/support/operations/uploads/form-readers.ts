import { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import { parseMultipart } from "@remix-run/multipart-parser";
import { make } from "multipasta";
import type { SentForm } from "./odd-forms.js";

/** A part as some reader sees it. Payloads are texts of a character for each byte. */
export interface ReadPart {
  readonly name: string;
  /** `undefined`: it is a field. */
  readonly filename: string | undefined;
  readonly payload: string;
}

/** Reads a form, or rejects. */
export type FormReader = (form: SentForm) => Promise<ReadPart[]>;

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

/** What servers in JavaScript read forms with. */
export const formReaders: Readonly<Record<string, FormReader>> = {
  "@fastify/busboy": ({ type, body }) =>
    new Promise((resolve, reject) => {
      const parts: ReadPart[] = [];
      const reader = new Busboy({ headers: { "content-type": type } });
      reader.on("field", (name, value) =>
        parts.push({ name, filename: undefined, payload: latin1(Buffer.from(value)) }),
      );
      reader.on("file", (name, stream, filename) => {
        const pieces: Buffer[] = [];
        stream.on("data", (piece: Buffer) => pieces.push(piece));
        stream.on("end", () => parts.push({ name, filename, payload: latin1(Buffer.concat(pieces)) }));
      });
      reader.once("error", reject).once("finish", () => resolve(parts));
      Readable.from([body]).pipe(reader);
    }),
  multipasta: ({ type, body }) =>
    new Promise((resolve, reject) => {
      const parts: ReadPart[] = [];
      const parser = make({
        headers: { "content-type": type },
        onField: ({ name }, value) => parts.push({ name, filename: undefined, payload: latin1(value) }),
        onFile: ({ name, filename }) => {
          const pieces: Uint8Array[] = [];
          return (piece) => {
            if (piece === null) parts.push({ name, filename, payload: latin1(Buffer.concat(pieces)) });
            else pieces.push(piece);
          };
        },
        onError: (error) => reject(new Error(error._tag)),
        onDone: () => resolve(parts),
      });
      parser.write(body);
      parser.end();
    }),
  "@remix-run/multipart-parser": async ({ type, body }) => {
    const boundary = type.slice(type.indexOf("=") + 1);
    return [...parseMultipart(body, { boundary })].map(({ name = "", filename, bytes }) => ({
      name,
      filename,
      payload: latin1(bytes),
    }));
  },
  "Response.formData": async ({ type, body }) => {
    const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
    return await Promise.all(
      [...form].map(async ([name, value]) =>
        typeof value === "string"
          ? { name, filename: undefined, payload: latin1(Buffer.from(value)) }
          : { name, filename: value.name, payload: latin1(new Uint8Array(await value.arrayBuffer())) },
      ),
    );
  },
};

/** Readers differ in whether they take back what browsers escape in names, and in the order of files and fields. */
export function comparable(parts: readonly ReadPart[]): string[] {
  const plain = (name: string | undefined) =>
    name?.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n") ?? null;
  return parts.map(({ name, filename, payload }) => JSON.stringify([plain(name), plain(filename), payload])).toSorted();
}
