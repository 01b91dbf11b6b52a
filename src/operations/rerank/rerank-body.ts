import { Buffer } from "node:buffer";
import type { Dialect } from "../../model-api/dialect.js";
import { addNameEdits } from "../../openai/chat/request-edits.js";
import { isRecord } from "../../wire/is-record.js";
import { editMembers, type MemberEdits, memberOf } from "../../wire/json-members.js";
import type { Input } from "../inputs/input-reader.js";
import type { RerankRequest } from "./rerank-request.js";

/**
 * The request for the upstream, in the words of its server: the upstream's name for the model, a `top_n` only where it leaves
 * something out, and texts for documents where the server takes no objects. The gateway itself gives documents back.
 */
export function rerankBody(
  request: RerankRequest,
  { model, dialect }: { readonly model: string; readonly dialect: Dialect | undefined },
): Uint8Array {
  const { body, members, documents, topN } = request;
  const style = dialect?.rerank ?? "cohere";
  const edits: MemberEdits = new Map([["model", JSON.stringify(model)]]);
  const limit = topN < documents.length ? String(topN) : null;
  const limitName = style === "voyage" ? "top_k" : "top_n";
  if (limitName !== "top_n" || hasOther(request, "top_n", limit)) edits.set("top_n", null);
  if (limit !== null) edits.set(limitName, limit);
  if (memberOf(members, "return_documents") !== undefined) edits.set("return_documents", null);
  if (style !== "jina" && isObject(request, documents[0])) {
    edits.set("documents", textsOf(request));
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
function textsOf(request: RerankRequest): string {
  const fields = rankFields(request);
  const texts = request.documents.map((document) => {
    const value = documentAt(request, document);
    if (!isRecord(value) || fields === undefined) return isRecord(value) ? value["text"] : value;
    return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => fields.includes(name))));
  });
  return JSON.stringify(texts);
}

function rankFields({ body, members }: RerankRequest): readonly unknown[] | undefined {
  const member = memberOf(members, "rank_fields");
  if (member === undefined) return undefined;
  const fields: unknown = JSON.parse(Buffer.from(body.subarray(member.start, member.end)).toString());
  const isTextAlone = Array.isArray(fields) && fields.every((field) => field === "text");
  return Array.isArray(fields) && !isTextAlone ? fields : undefined;
}

/** A document as the client sent it. */
export function documentAt({ body }: Pick<RerankRequest, "body">, { start, end }: Input): unknown {
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset + start, end - start).toString());
}
