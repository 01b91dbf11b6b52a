import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";
import { editMembers, type MemberEdits, memberOf } from "../../wire/json-members.js";
import { bySize, SliceCount, type Steps, valueBytes } from "../../wire/slices.js";
import type { Dialect } from "../shared/dialect.js";
import type { Input } from "../shared/inputs.js";
import { addNameEdits } from "../shared/parsed-request.js";
import type { RerankRequest } from "./rerank-request.js";

/**
 * The request for the upstream, in the words of its server: the upstream's name for the model, a `top_n` only where it leaves
 * something out, and texts for documents where the server takes no objects. The gateway itself gives documents back.
 */
export function rerankBody(request: RerankRequest, target: RerankTarget): Uint8Array | Promise<Uint8Array> {
  if (styleOf(target) === "jina" || !isObject(request, request.documents[0])) return editBody(request, target);
  const texts = bySize(request.body.length, textSteps(request));
  return texts instanceof Promise
    ? texts.then((written) => editBody(request, target, written))
    : editBody(request, target, texts);
}

interface RerankTarget {
  readonly model: string;
  readonly dialect: Dialect | undefined;
}

function styleOf({ dialect }: RerankTarget) {
  return dialect?.rerank ?? "cohere";
}

/** @param texts - in place of documents that are objects, as JSON. */
function editBody(request: RerankRequest, target: RerankTarget, texts?: string): Uint8Array {
  const { model, dialect } = target;
  const { body, members, documents, topN } = request;
  const style = styleOf(target);
  const edits: MemberEdits = new Map([["model", JSON.stringify(model)]]);
  const limit = topN < documents.length ? String(topN) : null;
  const limitName = style === "voyage" ? "top_k" : "top_n";
  if (limitName !== "top_n" || hasOther(request, "top_n", limit)) edits.set("top_n", null);
  if (limit !== null) edits.set(limitName, limit);
  if (memberOf(members, "return_documents") !== undefined) edits.set("return_documents", null);
  if (texts !== undefined) {
    edits.set("documents", texts);
    edits.set("rank_fields", null);
  }
  if (style === "tei") toTei(request, edits);
  if (dialect !== undefined) addNameEdits(request, dialect, edits);
  return editMembers(body, members, edits);
}

/** Whether a member has a value that does not go. */
function hasOther({ body, members }: RerankRequest, name: string, value: string | null): boolean {
  const member = memberOf(members, name);
  return member !== undefined && Buffer.from(body.subarray(member.start, member.end)).toString() !== value;
}

/** TEI serves one model, ranks all texts, and refuses long ones that it is not told to shorten. */
function toTei({ body, members }: RerankRequest, edits: MemberEdits): void {
  const documents = memberOf(members, "documents");
  edits.set("texts", edits.get("documents") ?? body.subarray(documents?.start, documents?.end));
  for (const name of ["documents", "model", "top_n"]) edits.set(name, null);
  if (memberOf(members, "truncate") === undefined) edits.set("truncate", "true");
}

function isObject({ body }: RerankRequest, document: Input | undefined): boolean {
  return document !== undefined && body[document.start] === 0x7b;
}

/** The texts of documents that are objects: of the fields that the client names, else their `text`. */
function* textSteps(request: RerankRequest): Steps<string> {
  const fields = request.rankFields && new Set(request.rankFields);
  const count = new SliceCount();
  const texts: string[] = [];
  for (const document of request.documents) {
    texts.push(JSON.stringify(textOf(JSON.parse(sentDocument(request, document)), fields)));
    if (count.isFull(document.end - document.start + valueBytes)) yield;
  }
  return `[${texts.join(",")}]`;
}

function textOf(document: unknown, fields: ReadonlySet<string> | undefined): unknown {
  if (!isRecord(document)) return document;
  if (fields === undefined) return document["text"];
  return JSON.stringify(Object.fromEntries(Object.entries(document).filter(([name]) => fields.has(name))));
}

/** A document as the client sent it, which is JSON. */
export function sentDocument({ body }: Pick<RerankRequest, "body">, { start, end }: Input): string {
  return Buffer.from(body.buffer, body.byteOffset + start, end - start).toString();
}
