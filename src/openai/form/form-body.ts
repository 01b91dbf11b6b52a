import { Buffer } from "node:buffer";
import { newBoundary, type WrittenPart, writeForm } from "../../wire/form/write-form.js";
import { editMembers, type MemberEdits, membersOf } from "../../wire/json-members.js";
import type { FormFile, FormFiles } from "./form-files.js";
import type { FormRequest } from "./form-request.js";

/** A form as a target gets it: written anew, so that all servers read the same of it. */
export class FormBody {
  readonly #fields: Buffer;
  readonly #files: FormFiles;
  readonly #boundary = newBoundary();

  /** @param edits - of fields, as JSON; `null` takes one out. */
  constructor({ body, members, files }: FormRequest, edits: MemberEdits) {
    this.#fields = editMembers(body, members, edits);
    this.#files = files;
  }

  get contentType(): string {
    return `multipart/form-data; boundary=${this.#boundary}`;
  }

  /** Not kept: the files must not stay longer than the request has them. */
  get pieces(): readonly Uint8Array[] {
    return this.#written(this.#fields);
  }

  /** All of it in one piece: a copy, which only hosts' own providers need. */
  get whole(): Buffer {
    return Buffer.concat(this.pieces);
  }

  /** The same with some fields changed. */
  with(edits: MemberEdits): readonly Uint8Array[] {
    return this.#written(editMembers(this.#fields, membersOf(this.#fields), edits));
  }

  #written(fields: Buffer): readonly Uint8Array[] {
    return writeForm(partsOf(fields, this.#files.all), this.#boundary);
  }
}

/** Fields first: some servers decide by them what to do with the files. */
function partsOf(fields: Buffer, files: readonly FormFile[]): WrittenPart[] {
  const members: Readonly<Record<string, unknown>> = JSON.parse(fields.toString());
  const isSeveral = (name: string) => files.filter((file) => file.name === name).length > 1;
  return [
    ...Object.entries(members).flatMap(([name, value]) => fieldsOf(name, value)),
    ...files.map(({ name, filename, type, content }) => ({
      name: isSeveral(name) ? `${name}[]` : name,
      filename,
      type: type ?? "application/octet-stream",
      payload: content.pieces,
    })),
  ];
}

function fieldsOf(name: string, value: unknown): WrittenPart[] {
  if (Array.isArray(value)) return value.map((each) => ({ name: `${name}[]`, payload: textOf(each) }));
  if (typeof value !== "object" || value === null) return [{ name, payload: textOf(value) }];
  return Object.entries(value).map(([key, each]) => ({ name: `${name}[${key}]`, payload: textOf(each) }));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
