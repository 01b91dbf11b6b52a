import { GatewayError } from "../../errors/gateway-error.js";
import { asBuffer } from "../../wire/bytes.js";
import {
  editMembers,
  type JsonMember,
  type MemberEdits,
  memberOf,
  type Scalar,
  splice,
  valueAt,
} from "../../wire/json-members.js";
import { bySize, type Steps } from "../../wire/slices.js";
import type { Dialect } from "./dialect.js";
import type { JsonRequest } from "./json-request.js";
import type { ModelRequest, OperationServices, RequestFacts, WholeBodies } from "./operation.js";

/** What the gateway reads of every request. */
interface ReadRequest extends JsonRequest {
  readonly model: string;
  /** Absent: its response does not come in a stream. */
  readonly stream?: boolean;
}

/** What all requests that were understood have in common. */
export abstract class ParsedRequest<Request extends ReadRequest> {
  protected readonly request: Request;

  constructor(request: Request) {
    this.request = request;
  }

  get model(): string {
    return this.request.model;
  }

  get stream(): boolean {
    return this.request.stream === true;
  }

  get comparable(): JsonRequest | undefined {
    return this.request;
  }

  asksToReason(): boolean {
    return false;
  }
}

/** Reads the JSON of a body. @throws GatewayError 400; rejects with it where the body is large. */
type JsonReader<Request> = (body: Uint8Array, maxDepth: number) => Steps<Request>;

/** How an operation reads bodies that are JSON. */
export function jsonBodies<Request>(
  read: JsonReader<Request>,
  toModelRequest: (request: Request, services: OperationServices, facts: RequestFacts) => ModelRequest,
): WholeBodies {
  return {
    takesUploads: false,
    checkContentType: requireJsonType,
    parse(body, services, facts) {
      const request = bySize(body.length, read(body, services.maxBodyDepth));
      return request instanceof Promise
        ? request.then((late) => toModelRequest(late, services, facts))
        : toModelRequest(request, services, facts);
    },
  };
}

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json\s*(?:;|$)/i;

/**
 * Accepts a missing content type, as long as the body is JSON.
 * @param isFormToo - whether a form is another way.
 * @throws GatewayError 415 for a content type other than JSON.
 */
export function requireJsonType(contentType: string | undefined, isFormToo = false): void {
  const type = contentType?.trim();
  if (type === undefined || type === "" || jsonType.test(type)) return;
  const [body, types] = isFormToo
    ? ["JSON or a form", "application/json or multipart/form-data"]
    : ["JSON", "application/json"];
  throw new GatewayError(`The request body must be ${body}: send the header Content-Type: ${types}.`, {
    status: 415,
    code: "unsupported_content_type",
  });
}

/** The members that ask for the probabilities of tokens, and what they say where they do not. */
const idle: Readonly<Record<string, readonly (Scalar | undefined)[]>> = {
  logprobs: [false, null],
  top_logprobs: [0, null],
  prompt_logprobs: [null],
};

/**
 * Whether a request asks for the probabilities of tokens, of which a response can have a hundred times the size of its texts, or
 * for images and sound beside its texts.
 */
export function asksForMuch({ body, members }: Pick<JsonRequest, "body" | "members">): boolean {
  return members.some((member) => {
    if (member.name === "modalities") return asksForMedia(body, member);
    return Object.hasOwn(idle, member.name) && idle[member.name]?.includes(valueAt(body, member)) === false;
  });
}

function asksForMedia(body: Uint8Array, { start, end }: JsonMember): boolean {
  const modalities: unknown = JSON.parse(asBuffer(body).toString("utf8", start, end));
  return Array.isArray(modalities) && modalities.some((modality) => modality !== "text");
}

type Members = Pick<JsonRequest, "body" | "members">;

/**
 * A request for the upstream that differs in nothing but the upstream's name for the model and what the dialect requires.
 * Everything else stays byte for byte.
 */
export function upstreamBody(
  { body, members }: Members,
  { model, dialect }: { readonly model: string; readonly dialect?: Dialect | undefined },
): Uint8Array {
  const name = JSON.stringify(model);
  const given = memberOf(members, "model");
  if (dialect === undefined && given !== undefined) return splice(body, given.start, given.end, name);
  const edits: MemberEdits = new Map([["model", name]]);
  if (dialect !== undefined) addNameEdits({ body, members }, dialect, edits);
  return editMembers(body, members, edits);
}

/** Adds edits for members that the server calls by other names or refuses. They are the same for all endpoints. */
export function addNameEdits(request: Members, { renamed, dropped }: Dialect, edits: MemberEdits): void {
  if (renamed !== undefined) {
    for (const [name, newName] of Object.entries(renamed)) rename(request, name, newName, edits);
  }
  if (dropped !== undefined) for (const name of dropped) edits.set(name, null);
}

function rename(request: Members, name: string, newName: string, edits: MemberEdits): void {
  const member = request.members.find((candidate) => candidate.name === name);
  if (member === undefined) return;
  edits.set(name, null);
  if (request.members.some((candidate) => candidate.name === newName)) return;
  edits.set(newName, request.body.subarray(member.start, member.end));
}
