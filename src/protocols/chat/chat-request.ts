import { invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { absent, editMembers, type JsonMember, memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import { ExactNames, findTwins, MemberSearch } from "../../wire/member-search.js";
import { type Steps, sliceBytes } from "../../wire/slices.js";
import { chatContent } from "../shared/content-shape.js";
import { namesOtherCap } from "../shared/demand.js";
import { type JsonRequest, parseJsonRequest, readCount, readMember, readModel } from "../shared/json-request.js";
import { checkMessages, type MessageCheck, type MessageOutline, type PartWatch } from "../shared/message-outline.js";
import { ProtocolTable, typeAt, words } from "../shared/protocol-table.js";
import {
  conversationMembers,
  misspelledName,
  RequestNames,
  readStreamOptions,
  reasoningMembers,
} from "../shared/request-names.js";

/**
 * What a request for a chat completion may hold, at OpenAI and at the servers that speak its API. The members by which a
 * client would choose another model, price or cap are in `restrictions`.
 */
export const chatTable = new ProtocolTable(
  {
    protocol: "chat/completions",
    reference: 'OpenAI, "Create chat completion" (openai 7.59.0), and the servers of `restrictions`',
    date: "2026-11-29",
    own: [],
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model messages stream stream_options max_tokens max_completion_tokens n tools tool_choice parallel_tool_calls
        functions function_call reasoning_effort reasoning frequency_penalty presence_penalty logit_bias logprobs
        top_logprobs metadata moderation prompt_cache_key prompt_cache_retention response_format safety_identifier seed
        stop temperature top_k top_p user verbosity
        thinking enable_thinking thinking_budget think include_reasoning reasoning_format reasoning_split chat_template_kwargs
        structured_outputs guided_json guided_regex guided_choice guided_grammar guided_decoding_backend
        guided_whitespace_pattern json_schema grammar grammar_triggers ebnf regex format
        stop_token_ids allowed_token_ids bad_words bad_words_token_ids truncate_prompt_tokens prompt_logprobs
        min_p top_a typical_p repetition_penalty repeat_penalty length_penalty samplers
        documents citation_options translation_options usage session_id trace`),
    },
    {
      place: "block",
      treatment: "passes",
      names: words(`
        text image_url input_audio file refusal video_url audio_url video audio image input_text input_image input_file
        output_text image_embeds audio_embeds document document_url search_result reference tool_reference thinking
        redacted_thinking reasoning tool_use tool_result tool_call`),
    },
    {
      place: "source",
      treatment: "refused",
      names: ["file_id"],
      why: "names a file in the operator's account, which all clients share",
      advice: "Send the file itself as 'file_data'.",
    },
    { place: "tool", treatment: "passes", names: words("function custom") },
    {
      place: "tool member",
      treatment: "passes",
      names: words("function custom format cache_control input_examples allowed_callers"),
    },
    {
      place: "inner member",
      treatment: "passes",
      names: words(`
        content function custom function_call tool_calls audio input_audio image_url video_url audio_url file image video
        document document_url cache_control prompt_cache_breakpoint annotations url_citation citations reasoning
        reasoning_details reasoning_content thinking thinking_blocks summary images source tools allowed_tools json_schema
        format grammar policy input output`),
    },
    {
      place: "open member",
      treatment: "passes",
      names: words(`
        messages metadata logit_bias chat_template_kwargs structured_outputs guided_json json_schema format documents trace
        regex grammar ebnf`),
    },
    {
      place: "open inner member",
      treatment: "passes",
      names: words("parameters input_schema schema arguments metadata extra_content"),
    },
  ],
);

/** Of one part: far more than any has. */
const mostMembers = 1000;

const files = ["file", "image_url", "video_url", "audio_url"] as const;
const inPart = new MemberSearch(files, mostMembers);

/** Notes the parts of a chat completion's messages that do not simply pass. */
const watchChatParts: PartWatch = {
  table: chatTable,
  read({ body, skips, places }, { start }, type, path) {
    const name = type === undefined ? undefined : typeAt(body, type.start, type.end);
    if (name !== undefined) places.note("block", name, path);
    if (name === "text" || inPart.run(body, start, skips) !== undefined) return 0;
    for (const [place, file] of Array.from(inPart.starts).entries()) {
      if (file !== absent) places.noteFile(body, file, skips, () => `${path()}.${files[place]}`);
    }
    return 0;
  },
};

/** The members of a chat completion request that the gateway reads (OpenAI reference, "Create chat completion"). */
export interface ChatRequest extends JsonRequest {
  /** The positions of its messages' parts; only for a long request. */
  readonly outline: MessageOutline | undefined;
  readonly model: string;
  readonly stream: boolean;
  /** Whether the client requested the usage chunk of a stream. */
  readonly includeUsage: boolean;
  readonly maxTokens: number | undefined;
  readonly maxCompletionTokens: number | undefined;
  /** Whether some server may heed another cap of it. */
  readonly namesOtherCap: boolean;
  /** The number of choices requested. */
  readonly n: number;
}

const mostResponses = 128;

export const chatNames = new RequestNames({ owned: conversationMembers, open: reasoningMembers });

/** The names of its output cap. */
export const chatCaps = ["max_tokens", "max_completion_tokens"] as const;

/**
 * Checks the members that the gateway reads. Every other member goes to the upstream unchanged.
 * @throws GatewayError 400
 */
export function* parseChatRequest(bytes: Uint8Array, maxDepth: number): Steps<ChatRequest> {
  const request = yield* parseJsonRequest(bytes, maxDepth, chatNames);
  const model = readModel(request);
  refuseOtherBody(request);
  const messages = checkMessages(request, chatContent, watchChatParts);
  while (!messages.run(messages.position + sliceBytes)) yield;
  return toChatRequest(request, model, messages);
}

/** Some clients have one address for all models, and send what they mean for the Responses API there. */
function refuseOtherBody({ members }: JsonRequest): void {
  if (memberOf(members, "messages") !== undefined || memberOf(members, "input") === undefined) return;
  throw missingParameter(
    "messages",
    "With 'input', this is a request of the Responses API: send it to /v1/responses, or let your client use chat completions.",
  );
}

function toChatRequest(request: JsonRequest, model: string, { outline, unknown }: MessageCheck): ChatRequest {
  const { body, members, skips, strangers } = request;
  const stream = readMember(request, "stream");
  if (stream !== undefined && typeof stream !== "boolean") throw invalidType("stream", "a boolean");
  return {
    body,
    members,
    skips,
    strangers,
    unknown,
    outline,
    model,
    stream: stream === true,
    includeUsage: readIncludeUsage(request),
    maxTokens: readCount("max_tokens", readMember(request, "max_tokens")),
    maxCompletionTokens: readCount("max_completion_tokens", readMember(request, "max_completion_tokens")),
    namesOtherCap: namesOtherCap(request, chatCaps),
    n: readCount("n", readMember(request, "n"), mostResponses) ?? 1,
  };
}

/** The most tokens of one choice; `undefined` when the request sets no cap. */
export function requestedOutputTokens(request: ChatRequest): number | undefined {
  const { maxTokens, maxCompletionTokens } = request;
  if (maxTokens === undefined) return maxCompletionTokens;
  return Math.max(maxTokens, maxCompletionTokens ?? 0);
}

const name = "stream_options";

/** Far longer than all options together, in bytes. */
const longestOptions = 4096;

const exactNames = new ExactNames(readStreamOptions);

/**
 * Whether the client requests the usage chunk of a stream.
 * @throws GatewayError 400 when a server could read the options in another way.
 */
export function readIncludeUsage(request: JsonRequest): boolean {
  const member = optionsOf(request);
  if (member === undefined) return false;
  const { body } = request;
  if (body[member.start] !== 0x7b) throw invalidType(name, "an object");
  if (member.end - member.start > longestOptions) {
    throw invalidValue(name, `'${name}' must be at most ${longestOptions} bytes long.`);
  }
  const options = membersOf(body, member.start);
  const names = options.map((option) => option.name);
  for (const each of names) {
    const meant = exactNames.meantBy(each);
    if (meant !== undefined) throw misspelledName(each, meant, name);
  }
  const twins = findTwins(names);
  if (twins !== undefined) throw misspelledName(twins[1], twins[0], name);
  const asked = memberOf(options, "include_usage");
  if (asked === undefined || body[asked.start] === 0x6e) return false;
  const value = valueAt(body, asked);
  if (typeof value !== "boolean") throw invalidType(`${name}.include_usage`, "a boolean");
  return value;
}

/** The options with the request for the usage chunk. */
export function withIncludeUsage(request: JsonRequest): string | Uint8Array {
  const member = optionsOf(request);
  if (member === undefined) return '{"include_usage":true}';
  const options = request.body.subarray(member.start, member.end);
  return editMembers(options, membersOf(options), new Map([["include_usage", "true"]]));
}

/** `undefined` when there are none. */
function optionsOf({ body, members }: JsonRequest): JsonMember | undefined {
  const member = memberOf(members, name);
  return member === undefined || body[member.start] === 0x6e ? undefined : member;
}
