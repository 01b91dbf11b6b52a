import { Buffer } from "node:buffer";
import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import { runtime } from "../../runtime/this-runtime.js";
import { type FormPart, FormScan } from "../../wire/form.js";
import { boundaryOf, isFormType } from "../../wire/form-boundary.js";
import { newBoundary, type WrittenPart, writeForm } from "../../wire/form-writer.js";
import { editMembers, type MemberEdits, membersOf } from "../../wire/json-members.js";
import { foldName } from "../../wire/member-search.js";
import { PiecedBytes } from "../../wire/pieced-bytes.js";
import { atOnce, bySize, type Steps, slicesOf } from "../../wire/slices.js";
import { type JsonRequest, parseJsonRequest } from "./json-request.js";
import type { RequestNames } from "./request-names.js";

/**
 * A form whose fields are JSON: a text each, several as a list, and those with keys as an object. So all that is checked of
 * JSON requests is checked of them, and hooks see them as those of any other request.
 */
export interface FormRequest extends JsonRequest {
  readonly files: FormFiles;
}

/** What an operation's forms hold. */
export interface FormNames {
  readonly names: RequestNames;
  /** The fields that may come several times, and how often at the most. Others come once, if the gateway knows them. */
  readonly lists: ReadonlyMap<string, number>;
  /** The files, and how many of each at the most. */
  readonly files: ReadonlyMap<string, number>;
  /** Fields that may be longer than others, in bytes. */
  readonly longest: ReadonlyMap<string, number>;
}

/** Sixteen images and their mask are the most files of any form. */
const limits = { mostParts: 64, mostFiles: 17 };
const longestField = 64 * 1024;
/** Of all fields together as JSON, which is read at once. */
const longestFields = 6 * 1024 * 1024;
const longestFilename = 255;
/** Of media, with plain parameters. Some readers would look for parts in a part that says it is a form. */
const plainType =
  /^(?:audio|video|image|text|application)\/[\w.+-]+(?:[ \t]*;[ \t]*[\w-]+=(?:[\w.+-]+|"[\w .,+/=-]*"))*[ \t]*$/i;
/** A name, and what of it a field is: `[]`, `[0]` or `[key]`. Of other names, readers differ in what they leave out. */
const fieldName = /^([\w.-]+)(?:\[([\w.-]{0,64})\])?$/;
/** In a file name: readers differ in escapes and delimiters, and some know no characters beyond Latin 1. */
const unclear = /%(?:22|0[AD])|[^\w .()+@&\u00a0-\u00ff-]/gu;

/** @throws GatewayError 415 when a body of this content type is no form. */
export function requireFormType(contentType: string | undefined): void {
  if (isFormType(contentType)) return;
  throw new GatewayError("The request body must be a form: send the header Content-Type: multipart/form-data.", {
    status: 415,
    code: "unsupported_content_type",
  });
}

/**
 * Reads a form. A large one is scanned in slices, between which others have their turn.
 * @throws GatewayError 400
 */
export function readFormRequest(
  pieces: readonly Uint8Array[],
  contentType: string | undefined,
  form: FormNames,
): FormRequest | Promise<FormRequest> {
  const boundary = boundaryOf(contentType ?? "");
  if (boundary === undefined) throw invalidForm("The Content-Type must have one boundary of 1 to 70 characters.");
  const bytes = new PiecedBytes(pieces);
  if (bytes.length === 0) {
    throw invalidForm(
      "The form is empty. If something else reads forms before the gateway, mount the gateway before it.",
    );
  }
  return bySize(bytes.length, formSteps(bytes, boundary, form));
}

function* formSteps(bytes: PiecedBytes, boundary: string, form: FormNames): Steps<FormRequest> {
  const scan = new FormScan(bytes, boundary, limits);
  yield* slicesOf(scan);
  if (scan.fault !== undefined) throw invalidForm(scan.fault);
  const fields = new FormFields(form);
  const files: FormFile[] = [];
  for (const part of scan.parts) {
    if (part.filename === undefined) fields.add(part, bytes);
    else files.push(readFile(part, part.filename, bytes, form));
  }
  for (const [name, most] of form.files) {
    if (files.filter((file) => file.name === name).length > most) {
      throw invalidValue(
        name,
        most === 1 ? `'${name}' must come once.` : `'${name}' must come ${most} times at the most.`,
      );
    }
  }
  return withFields(fields.toJson(), new FormFiles(files), form.names);
}

/** The form with these fields. @throws GatewayError 400 */
export function withFields(json: Uint8Array, files: FormFiles, names: RequestNames): FormRequest {
  return { ...atOnce(parseJsonRequest(json, deepestField, names)), files };
}

/** A list or an object of texts. */
const deepestField = 2;

function readFile(
  { name, type, start, end }: FormPart,
  filename: string,
  source: PiecedBytes,
  form: FormNames,
): FormFile {
  const base = name.endsWith("[]") ? name.slice(0, -2) : name;
  if (!form.files.has(base)) {
    throw invalidValue(base.slice(0, 200), `'${base.slice(0, 200)}' must not be a file.`);
  }
  if (filename === "" || filename.length > longestFilename) {
    throw invalidValue(base, `'${base}' must have a file name of 1 to ${longestFilename} characters.`);
  }
  if (start === end) throw invalidValue(base, `'${base}' must not be an empty file.`);
  return {
    name: base,
    filename: plainFilename(filename),
    type: plainType.test(type ?? "") ? type : undefined,
    content: new PiecedBytes(source.slices(start, end)),
  };
}

/** The name as all readers have it. Of a path, it is the last part: servers would take it for one of theirs. */
function plainFilename(filename: string): string {
  const last = filename
    .replace(/^.*[/\\]/s, "")
    .trim()
    .replaceAll(unclear, "_");
  return /^\.{0,2}$/.test(last) ? "file" : last;
}

/** As JSON. */
type Value = string | readonly string[] | Readonly<Record<string, string>>;

/** Gathers fields as members of an object. */
class FormFields {
  readonly #form: FormNames;
  readonly #values = new Map<string, Value>();
  /** In bytes. */
  #length = 0;

  constructor(form: FormNames) {
    this.#form = form;
  }

  add({ name, start, end }: FormPart, bytes: PiecedBytes): void {
    const [, base = "", key] = fieldName.exec(name) ?? [];
    const param = (base || name).slice(0, 200);
    if (base === "") throw invalidForm(`The form has a field of the name '${param}', which is none.`);
    if (this.#form.files.has(base)) throw invalidValue(param, `'${param}' must be a file: give it a file name.`);
    const most = this.#form.longest.get(base) ?? longestField;
    if (end - start > most) throw invalidValue(param, `'${param}' must have at most ${most} bytes.`);
    const payload = bytes.part(start, end);
    if (!runtime.isUtf8(payload)) throw invalidValue(param, `'${param}' is not valid UTF-8.`);
    const json = JSON.stringify(payload.toString());
    this.#length += Buffer.byteLength(json);
    if (this.#length > longestFields)
      throw invalidForm(`The fields of the form are longer than ${longestFields} bytes.`);
    this.#put(base, key, json);
  }

  #put(base: string, key: string | undefined, json: string): void {
    const known = this.#values.get(base);
    const isList = this.#form.lists.has(base);
    const meant = this.#form.names.meantBy("", foldName(base));
    // A name that the gateway reads has one value, whatever the server makes of several.
    if (meant !== undefined && !isList && key !== undefined) throw invalidValue(meant, `'${meant}' must be one field.`);
    if (key === undefined && !isList) {
      if (known !== undefined) throw invalidValue(base.slice(0, 200), `'${base.slice(0, 200)}' must come once.`);
      this.#values.set(base, json);
    } else if (key === undefined || key === "" || /^\d+$/.test(key)) {
      if (known !== undefined && !Array.isArray(known)) throw mixed(base);
      const list = [...(known ?? []), json];
      const most = this.#form.lists.get(base) ?? limits.mostParts;
      if (list.length > most) throw invalidValue(base, `'${base}' must come ${most} times at the most.`);
      this.#values.set(base, list);
    } else {
      if (typeof known === "string" || Array.isArray(known)) throw mixed(base);
      if (known !== undefined && Object.hasOwn(known, key))
        throw invalidValue(base, `'${base}[${key}]' must come once.`);
      this.#values.set(base, { ...known, [key]: json });
    }
  }

  toJson(): Buffer {
    return Buffer.from(objectOf([...this.#values].map(([name, value]) => [name, jsonOf(value)])));
  }
}

function jsonOf(value: Value): string {
  if (typeof value === "string") return value;
  return isList(value) ? `[${value.join(",")}]` : objectOf(Object.entries(value));
}

function isList(value: Exclude<Value, string>): value is readonly string[] {
  return Array.isArray(value);
}

function objectOf(members: readonly (readonly [name: string, json: string])[]): string {
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}

function mixed(name: string): GatewayError {
  return invalidValue(
    name.slice(0, 200),
    `'${name.slice(0, 200)}' must be one field, a list or an object, and not several of these.`,
  );
}

function invalidForm(message: string): GatewayError {
  return new GatewayError(message, { status: 400, code: "invalid_form" });
}

/** A file of a form. Its bytes are slices of the client's. */
export interface FormFile {
  readonly name: string;
  readonly filename: string;
  readonly type: string | undefined;
  readonly content: PiecedBytes;
}

/** The files of a form, which only this holds: it lets go of them once nothing sends them any more. */
class FormFiles {
  #all: readonly FormFile[];

  constructor(all: readonly FormFile[]) {
    this.#all = all;
  }

  get all(): readonly FormFile[] {
    return this.#all;
  }

  letGo(): void {
    this.#all = [];
  }
}

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
