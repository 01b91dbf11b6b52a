import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import {
  type JsonRequest,
  parseJsonRequest,
  parseJsonRequestInTurns,
  readMember,
  readModel,
} from "../../model-api/request/json-request.js";
import { RequestNames } from "../../model-api/request/request-names.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { memberOf, valueAt } from "../../wire/json-members.js";
import { codePoints } from "./code-points.js";

/** The members of a request for speech that the gateway reads (OpenAI reference, "Create speech"). */
export interface SpeechRequest extends JsonRequest {
  readonly model: string;
  /** Whether its client wants events, and no bytes. */
  readonly wantsEvents: boolean;
  /** Such as `wav`; `undefined`: the server's own, which is `mp3`. */
  readonly format: string | undefined;
  /** Of the text that is spoken. */
  readonly characters: number;
  /** Of that text and the instructions, at the most. */
  readonly promptTokens: number;
}

export const speechNames = new RequestNames({
  owned: ["model", "input", "instructions", "response_format", "stream_format"],
});

/** Far more than servers speak at once, in bytes. */
const longestInput = 256 * 1024;
/** Around a text. */
const marks = 16;

/**
 * Checks the members that the gateway reads. Every other member goes to the upstream unchanged.
 * @throws GatewayError 400
 */
export function parseSpeechRequest(bytes: Uint8Array, maxDepth: number): SpeechRequest {
  return toSpeechRequest(parseJsonRequest(bytes, maxDepth, speechNames));
}

/** The same for a large body, in slices between which other work can run. */
export async function parseSpeechRequestInTurns(bytes: Uint8Array, maxDepth: number): Promise<SpeechRequest> {
  return toSpeechRequest(await parseJsonRequestInTurns(bytes, maxDepth, speechNames));
}

function toSpeechRequest(request: JsonRequest): SpeechRequest {
  const model = readModel(request);
  const input = readText(request, "input");
  if (input === undefined) throw missingParameter("input");
  if (input.text === "") throw invalidValue("input", "'input' must not be an empty string.");
  const streamFormat = readMember(request, "stream_format");
  if (streamFormat !== undefined && streamFormat !== "audio" && streamFormat !== "sse") {
    throw invalidValue("stream_format", "'stream_format' must be 'audio' or 'sse'.");
  }
  const format = readMember(request, "response_format");
  if (format !== undefined && typeof format !== "string") throw invalidType("response_format", "a string");
  return {
    ...request,
    model,
    wantsEvents: streamFormat === "sse",
    format,
    characters: codePoints(input.text),
    promptTokens: input.tokens + (readText(request, "instructions")?.tokens ?? 0),
  };
}

function readText(
  { body, members }: JsonRequest,
  name: string,
): { readonly text: string; readonly tokens: number } | undefined {
  const member = memberOf(members, name);
  if (member === undefined || body[member.start] === 0x6e) return undefined;
  const { start, end } = member;
  if (body[start] !== 0x22) throw invalidType(name, "a string");
  if (end - start > longestInput) {
    throw new GatewayError(`'${name}' must be at most ${longestInput} bytes long. Send it in several requests.`, {
      status: 400,
      code: "string_above_max_length",
      param: name,
    });
  }
  return {
    text: String(valueAt(body, member)),
    tokens: textTokens(body.subarray(start + 1, end - 1), true) + marks,
  };
}
