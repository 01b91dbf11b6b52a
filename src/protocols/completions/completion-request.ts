import { invalidType, missingParameter } from "../../errors/gateway-error.js";
import { type Edited, editText, keptText } from "../../wire/edited-bytes.js";
import { type MemberEdits, memberOf, valueAt } from "../../wire/json-members.js";
import { type Steps, slicesOf } from "../../wire/slices.js";
import { readIncludeUsage, withIncludeUsage } from "../chat/chat-request.js";
import { cutOtherCaps, namesOtherCap } from "../shared/demand.js";
import type { Dialect } from "../shared/dialect.js";
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
import { addNameEdits } from "../shared/parsed-request.js";
import { ProtocolTable, words } from "../shared/protocol-table.js";
import { RequestNames } from "../shared/request-names.js";

/** What a request for a completion of a text may hold, at OpenAI and at the servers that speak its API. */
export const completionsTable = new ProtocolTable(
  {
    protocol: "completions",
    reference: 'OpenAI, "Create completion" (openai 7.59.0), and the servers of `restrictions`',
    date: "2026-11-29",
    own: [],
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model prompt suffix echo stream stream_options max_tokens n logprobs frequency_penalty presence_penalty logit_bias
        seed stop temperature top_k top_p user
        metadata prompt_cache_key safety_identifier session_id trace usage
        structured_outputs guided_json guided_regex guided_choice guided_grammar guided_decoding_backend
        guided_whitespace_pattern json_schema response_format grammar grammar_triggers ebnf regex format
        stop_token_ids allowed_token_ids bad_words bad_words_token_ids truncate_prompt_tokens prompt_logprobs
        add_special_tokens skip_special_tokens spaces_between_special_tokens include_stop_str_in_output
        return_tokens_as_token_ids return_token_ids
        min_p top_a typical_p repetition_penalty repeat_penalty length_penalty samplers`),
    },
    {
      place: "open member",
      treatment: "passes",
      names: words(`
        prompt metadata logit_bias structured_outputs guided_json json_schema format trace regex grammar ebnf`),
    },
    { place: "inner member", treatment: "passes", names: ["json_schema"] },
    { place: "open inner member", treatment: "passes", names: ["schema"] },
    {
      place: "member",
      treatment: "refused",
      always: true,
      names: ["prompt_embeds"],
      why: "is a prompt whose tokens nobody can count",
      advice: "Send 'prompt'.",
    },
    { place: "member", treatment: "refused", always: true, names: ["messages"], advice: "Send 'prompt'." },
  ],
);

/** The members of a completion request that the gateway reads (OpenAI reference, "Create completion"). */
export interface CompletionRequest extends JsonRequest {
  readonly model: string;
  /** At least one. The marks alone stand for a prompt that is `null`. */
  readonly prompts: readonly Input[];
  /** What comes behind each prompt, to complete what is between. */
  readonly suffix: Input | undefined;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** `null` stands for what the model gives, where absence stands for 16 tokens. */
  readonly maxTokens: number | null | undefined;
  readonly namesOtherCap: boolean;
  /** The number of choices requested for each prompt. */
  readonly n: number;
  /** So many are written for each prompt, of which `n` are sent. */
  readonly bestOf: number;
  /** Whether each choice begins with its prompt. */
  readonly echo: boolean;
}

const refused = new RefusedMembers(completionsTable);

export const completionNames = new RequestNames({
  owned: [
    ...["model", "prompt", "suffix", "echo", "stream", "stream_options", "max_tokens", "n", "best_of"],
    ...refused.names,
  ],
});

const completionCaps = ["max_tokens"] as const;

const promptRules: InputRules = {
  param: "prompt",
  takesTokens: true,
  takesObjects: false,
  takesEmptyTexts: true,
  mostTokens: Number.POSITIVE_INFINITY,
};

const mostChoices = 128;

/**
 * Checks the members that the gateway reads. Every other member goes to the upstream unchanged.
 * @throws GatewayError 400
 */
export function* parseCompletionRequest(bytes: Uint8Array, maxDepth: number): Steps<CompletionRequest> {
  const request = yield* parseJsonRequest(bytes, maxDepth, completionNames);
  const check = checkPrompt(request);
  if (check !== undefined) yield* slicesOf(check);
  return toCompletionRequest(request, check?.inputs);
}

/** `undefined` where the prompt is `null`: the model writes from the beginning of a text. */
function checkPrompt(request: JsonRequest): InputReader | undefined {
  readModel(request);
  refused.refuse(request);
  const prompt = memberOf(request.members, "prompt");
  if (prompt === undefined) throw missingParameter("prompt");
  return request.body[prompt.start] === 0x6e ? undefined : new InputReader(request, promptRules);
}

function toCompletionRequest(request: JsonRequest, inputs: readonly Input[] | undefined): CompletionRequest {
  const n = readCount("n", readMember(request, "n"), mostChoices) ?? 1;
  return {
    ...request,
    model: readModel(request),
    prompts: inputs ?? [{ start: 0, end: 0, tokens: marks }],
    suffix: readSuffix(request),
    stream: readBoolean(request, "stream"),
    includeUsage: readIncludeUsage(request),
    maxTokens: readMaxTokens(request),
    namesOtherCap: namesOtherCap(request, completionCaps),
    n,
    bestOf: Math.max(n, readCount("best_of", readMember(request, "best_of"), mostChoices, 0) ?? 0),
    echo: readBoolean(request, "echo"),
  };
}

function readMaxTokens(request: JsonRequest): number | null | undefined {
  const value = readCount("max_tokens", readMember(request, "max_tokens"), undefined, 0);
  if (value !== undefined) return value;
  return memberOf(request.members, "max_tokens") === undefined ? undefined : null;
}

function readSuffix({ body, members }: JsonRequest): Input | undefined {
  const suffix = memberOf(members, "suffix");
  if (suffix === undefined || body[suffix.start] === 0x6e) return undefined;
  const { start, end } = suffix;
  if (body[start] !== 0x22) throw invalidType("suffix", "a string");
  return { start, end, tokens: stringTokens(body, start, end) + marks };
}

/** A prompt's text; empty where it consists of tokens. */
export function echoablePrompt({ body, prompts }: CompletionRequest, place: number): string {
  const prompt = prompts[place];
  if (prompt === undefined || prompt.end === 0 || body[prompt.start] !== 0x22) return "";
  return String(valueAt(body, prompt));
}

/** The target of a request. */
interface Target {
  readonly model: string;
  /** No cap above it is sent. */
  readonly maxOutputTokens: number;
  /** The cap of a request that names none. */
  readonly addedCap: number | undefined;
  readonly dialect: Dialect | undefined;
}

/**
 * The request for the upstream: its name for the model, a cap within the model's limit, on streams a request for usage,
 * and the dialect's edits. Everything else stays byte for byte.
 */
export function encodeCompletionRequest(request: CompletionRequest, target: Target): Edited {
  const { body, members, stream, includeUsage } = request;
  const { model, maxOutputTokens, addedCap, dialect } = target;
  const edits: MemberEdits = new Map([["model", JSON.stringify(model)]]);
  if ((request.maxTokens ?? 0) > maxOutputTokens) edits.set("max_tokens", String(maxOutputTokens));
  if (addedCap !== undefined) edits.set("max_tokens", String(addedCap));
  if (request.namesOtherCap) cutOtherCaps(request, completionCaps, maxOutputTokens, edits);
  if (stream && !includeUsage) edits.set("stream_options", withIncludeUsage(request));
  if (!stream && memberOf(members, "stream_options") !== undefined) edits.set("stream_options", null);
  if (dialect !== undefined) addNameEdits(request, dialect, edits);
  const edited = editText(body, members, edits);
  // The copy is kept until the response has ended.
  return stream ? keptText(edited) : edited;
}
