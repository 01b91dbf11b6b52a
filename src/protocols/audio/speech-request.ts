import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { memberOf, valueAt } from "../../wire/json-members.js";
import type { Steps } from "../../wire/slices.js";
import { type JsonRequest, parseJsonRequest, readMember, readModel } from "../shared/json-request.js";
import { ProtocolTable, words } from "../shared/protocol-table.js";
import { RequestNames } from "../shared/request-names.js";

/** What a request for speech may hold, at OpenAI and at the servers that speak its API. */
export const speechTable = new ProtocolTable(
  {
    protocol: "audio/speech",
    reference: 'OpenAI, "Create speech" (openai 7.59.0), and the servers that speak it',
    date: "2026-11-29",
    // How fast the voice speaks, and no place in a queue.
    own: ["speed"],
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model input voice instructions response_format speed stream_format user metadata safety_identifier
        language lang_code sample_rate ref_audio ref_text volume_multiplier seed temperature`),
    },
    { place: "open member", treatment: "passes", names: ["metadata"] },
  ],
);

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
export function* parseSpeechRequest(bytes: Uint8Array, maxDepth: number): Steps<SpeechRequest> {
  return toSpeechRequest(yield* parseJsonRequest(bytes, maxDepth, speechNames));
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

/** How many characters a text has: an emoji is one, where `length` says 2. */
function codePoints(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) {
    const isHigh = (text.charCodeAt(at) & 0xfc00) === 0xd800;
    if (!isHigh || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    pairs++;
    at++;
  }
  return text.length - pairs;
}
