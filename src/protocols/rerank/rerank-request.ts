import { invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { asBuffer } from "../../wire/bytes.js";
import { absent, memberOf } from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import type { Skips } from "../../wire/skip-table.js";
import { type Steps, slicesOf } from "../../wire/slices.js";
import { RefusedMembers } from "../shared/inner-members.js";
import { type Input, InputReader, type InputRules, marks, stringTokens } from "../shared/inputs.js";
import {
  type JsonRequest,
  parseJsonRequest,
  readBoolean,
  readCount,
  readMember,
  readModel,
} from "../shared/json-request.js";
import { kindOf } from "../shared/prompt-layout.js";
import { ProtocolTable, words } from "../shared/protocol-table.js";
import { faultyObject, RequestNames } from "../shared/request-names.js";

/** What a request to rank documents may hold. OpenAI has no such API: its servers follow Cohere's. */
export const rerankTable = new ProtocolTable(
  {
    protocol: "rerank",
    reference: 'Cohere, "Rerank" v2 and v1 (cohere-ai 8.1.0), Jina, Voyage, vLLM, llama.cpp, Infinity, TEI and LocalAI',
    date: "2026-11-23",
    own: [],
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model query documents top_n return_documents rank_fields max_tokens_per_doc max_chunks_per_doc truncate truncation
        truncate_prompt_tokens raw_scores user`),
    },
    { place: "open member", treatment: "passes", names: words("query documents") },
    { place: "member", treatment: "refused", always: true, names: ["texts"], advice: "Send 'documents'." },
    { place: "member", treatment: "refused", always: true, names: ["top_k"], advice: "Send 'top_n'." },
  ],
);

/** The members of a request to rank documents that the gateway reads (Cohere reference, "Rerank"). */
export interface RerankRequest extends JsonRequest {
  readonly model: string;
  readonly query: Input;
  /** At least one: texts, or objects with a text or an image. */
  readonly documents: readonly Input[];
  /** Whether some document has no text. */
  readonly hasImages: boolean;
  /** How many results the client wants: no more than there are documents. */
  readonly topN: number;
  /** The fields of documents that the model is to read; `undefined`: their text alone. */
  readonly rankFields: readonly string[] | undefined;
  /** Whether each result is to have its document. */
  readonly returnDocuments: boolean;
}

/** The most documents of any request: Cohere's limit. */
export const mostDocuments = 10_000;

/** The most documents of a model that says nothing of it. */
export const usualDocuments = 1000;

/** Of Cohere's models before v4. */
export const usualChunkTokens = 500;

const refused = new RefusedMembers(rerankTable);

export const rerankNames = new RequestNames({
  owned: [...["model", "query", "documents", "top_n", "return_documents", "rank_fields"], ...refused.names],
});

const documentRules: InputRules = {
  param: "documents",
  takesTokens: false,
  takesObjects: true,
  takesEmptyTexts: true,
  mostInputs: mostDocuments,
  mostTokens: 0,
};

/** @throws GatewayError 400 */
export function* parseRerankRequest(bytes: Uint8Array, maxDepth: number): Steps<RerankRequest> {
  const request = yield* parseJsonRequest(bytes, maxDepth, rerankNames);
  const documents = new DocumentsReader(request);
  yield* slicesOf(documents.reader);
  return toRerankRequest(request, documents);
}

/** Of one document: far more than any has. */
const mostMembers = 1000;

const inDocument = new MemberSearch(["text", "image"], mostMembers);

class DocumentsReader {
  readonly reader: InputReader;
  hasImages = false;

  constructor(request: JsonRequest) {
    readModel(request);
    refused.refuse(request);
    const { body, members } = request;
    const documents = memberOf(members, "documents");
    if (documents !== undefined && body[documents.start] === 0x22) throw invalidType("documents", "an array");
    const watch = (...[bytes, start, skips, path]: Parameters<NonNullable<InputRules["watch"]>>) =>
      this.#watch(bytes, start, skips, path);
    this.reader = new InputReader(request, { ...documentRules, watch });
  }

  #watch(body: Uint8Array, start: number, skips: Skips, path: string): void {
    const fault = inDocument.run(body, start, skips);
    if (fault !== undefined) throw faultyObject(fault, path, "A document");
    const [text = absent, image = absent] = inDocument.starts;
    if (text !== absent && body[text] === 0x22) return;
    if (text !== absent || image === absent || body[image] !== 0x22) throw invalidType(`${path}.text`, "a string");
    this.hasImages = true;
  }
}

function toRerankRequest(request: JsonRequest, { reader, hasImages }: DocumentsReader): RerankRequest {
  const documents = reader.inputs;
  const topN = readCount("top_n", readMember(request, "top_n"), undefined, 0) ?? 0;
  return {
    ...request,
    model: readModel(request),
    query: readQuery(request),
    documents,
    hasImages,
    rankFields: readRankFields(request),
    topN: topN === 0 ? documents.length : Math.min(topN, documents.length),
    returnDocuments: readBoolean(request, "return_documents"),
  };
}

/** Far more than documents have, and how long their names may be together, in bytes. */
const mostFields = 100;
const longestFields = 8192;

function readRankFields({ body, members }: JsonRequest): readonly string[] | undefined {
  const member = memberOf(members, "rank_fields");
  if (member === undefined || body[member.start] === 0x6e) return undefined;
  const { start, end } = member;
  const value: unknown =
    end - start > longestFields ? undefined : JSON.parse(asBuffer(body).toString("utf8", start, end));
  if (!isFields(value)) throw invalidType("rank_fields", `an array of at most ${mostFields} names`);
  const hidden = value.find((name) => kindOf("prompt", name) === "file");
  if (hidden !== undefined) throw invalidValue("rank_fields", `'${hidden}' is a file, and no text that can be ranked.`);
  return value.every((name) => name === "text") ? undefined : value;
}

function isFields(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= mostFields && value.every((name) => typeof name === "string");
}

function readQuery({ body, members }: JsonRequest): Input {
  const query = memberOf(members, "query");
  if (query === undefined || body[query.start] === 0x6e) throw missingParameter("query");
  const { start, end } = query;
  if (body[start] !== 0x22) throw invalidType("query", "a string");
  if (end - start === 2) throw invalidValue("query", "'query' must not be an empty string.");
  return { start, end, tokens: stringTokens(body, start, end) + marks };
}
