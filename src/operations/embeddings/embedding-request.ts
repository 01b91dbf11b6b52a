import { invalidType } from "../../errors/gateway-error.js";
import type { Dialect } from "../../model-api/dialect.js";
import {
  type JsonRequest,
  parseJsonRequest,
  parseJsonRequestInTurns,
  readCount,
  readMember,
  readModel,
} from "../../model-api/request/json-request.js";
import { RequestNames } from "../../model-api/request/request-names.js";
import { wordTokens } from "../../openai/chat/least-tokens.js";
import { addNameEdits } from "../../openai/chat/request-edits.js";
import { mostTokens, type Tokenizer } from "../../tokens/tokenizer.js";
import { editMembers, type JsonMember, type MemberEdits, memberOf, splice, valueAt } from "../../wire/json-members.js";
import { inTurns } from "../../wire/slices.js";
import { type EmbeddingInput, EmbeddingInputCheck, marks } from "./embedding-inputs.js";

/** The members of an embeddings request that the gateway reads (OpenAI reference, "Create embeddings"). */
export interface EmbeddingRequest extends JsonRequest {
  readonly model: string;
  /**
   * An estimate of each input's tokens; exact for inputs that are tokens. The response must have one vector for each.
   */
  readonly inputTokens: readonly number[];
  /** The position of each input, in the same order. */
  readonly inputs: readonly EmbeddingInput[];
  /** `other`: an encoding that OpenAI does not have. It is passed on unchanged. */
  readonly encoding: "float" | "base64" | "other";
}

export const embeddingNames = new RequestNames({ owned: ["model", "input", "dimensions", "encoding_format"] });

/**
 * Checks the members that the gateway reads. Every other member goes to the upstream unchanged.
 * @throws GatewayError 400
 */
export function parseEmbeddingRequest(bytes: Uint8Array, maxDepth: number): EmbeddingRequest {
  const request = parseJsonRequest(bytes, maxDepth, embeddingNames);
  const check = checkInput(request);
  check.run(request.body.length);
  return toEmbeddingRequest(request, check.inputs);
}

/** The same for a large body, in slices between which other work can run. */
export async function parseEmbeddingRequestInTurns(bytes: Uint8Array, maxDepth: number): Promise<EmbeddingRequest> {
  const request = await parseJsonRequestInTurns(bytes, maxDepth, embeddingNames);
  const check = checkInput(request);
  await inTurns(check);
  return toEmbeddingRequest(request, check.inputs);
}

function checkInput(request: JsonRequest): EmbeddingInputCheck {
  readModel(request);
  return new EmbeddingInputCheck(request.body, memberOf(request.members, "input"), request.leaps);
}

function toEmbeddingRequest(request: JsonRequest, inputs: readonly EmbeddingInput[]): EmbeddingRequest {
  readCount("dimensions", readMember(request, "dimensions"));
  const encoding = readMember(request, "encoding_format") ?? "float";
  if (typeof encoding !== "string") throw invalidType("encoding_format", "'float' or 'base64'");
  return {
    ...request,
    model: readModel(request),
    inputs,
    inputTokens: inputs.map(({ tokens }) => tokens),
    encoding: encoding === "float" || encoding === "base64" ? encoding : "other",
  };
}

/** The most tokens of each input. Of media that nothing limits, as many as `contextLength`. */
export function countEmbeddingTokens(
  { body, inputs, inputTokens }: EmbeddingRequest,
  contextLength: number,
  tokenizer?: Tokenizer,
): readonly number[] {
  return inputTokens.map((bound, place) => {
    const input = inputs[place];
    if (tokenizer !== undefined && input !== undefined && isText(body, input)) {
      // It stops counting beyond the context.
      const counted = mostTokens(textAt(body, input), tokenizer, contextLength - marks);
      if (counted !== undefined) return counted + marks;
    }
    return Number.isFinite(bound) ? bound : contextLength;
  });
}

/**
 * The path of the first input that certainly has more tokens than `contextLength`. It counts given tokens, or uses the
 * tokenizer, or counts words: each word is at least one token.
 */
export function findTooLongInput(
  request: EmbeddingRequest,
  contextLength: number,
  tokenizer: Tokenizer | undefined,
): string | undefined {
  const { body, inputs } = request;
  // A token has at least one byte.
  if (body.length <= contextLength) return undefined;
  const place = inputs.findIndex((input) => {
    if (!isText(body, input)) return body[input.start] === 0x5b && input.tokens > contextLength;
    const { start, end } = input;
    if (tokenizer !== undefined) return tokenizer.count(textAt(body, input), contextLength) > contextLength;
    // A word has at least two bytes, including the white space after it.
    if ((end - start) / 2 <= contextLength) return false;
    return (
      wordTokens(body, { start: start + 1, end: end - 1 }, contextLength, Number.POSITIVE_INFINITY) > contextLength
    );
  });
  if (place < 0) return undefined;
  return inputs[place]?.start === memberOf(request.members, "input")?.start ? "input" : `input[${place}]`;
}

/**
 * The request for the upstream: the upstream's name for the model, and other members as the dialect requires.
 * Everything else stays byte for byte.
 */
export function toUpstreamEmbeddingBody(
  request: EmbeddingRequest,
  { model, dialect }: { model: string; dialect?: Dialect | undefined },
): Uint8Array {
  const { body, members } = request;
  const name = JSON.stringify(model);
  if (dialect === undefined) {
    const { start, end } = memberOf(members, "model") as JsonMember;
    return splice(body, start, end, name);
  }
  const edits: MemberEdits = new Map([["model", name]]);
  addNameEdits(request, dialect, edits);
  return editMembers(body, members, edits);
}

type Value = Pick<JsonMember, "start" | "end">;

function isText(body: Uint8Array, { start }: Value): boolean {
  return body[start] === 0x22;
}

function textAt(body: Uint8Array, input: Value): string {
  return String(valueAt(body, input));
}
