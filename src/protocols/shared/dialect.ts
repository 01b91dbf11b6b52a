import { isRecord } from "../../wire/is-record.js";
import { foldName } from "../../wire/member-search.js";
import { misspelledName } from "./request-names.js";

/** The output caps of the three protocols. */
export const capNames = ["max_tokens", "max_completion_tokens", "max_output_tokens"] as const;

export type CapName = (typeof capNames)[number];

/** Numbers that some server takes for its output cap, even beside one of {@link capNames}. */
export const otherCapNames = [
  "n_predict",
  "num_predict",
  "max_new_tokens",
  "max_tokens_to_sample",
  "max_length",
  "max_gen_len",
] as const;

/** Objects in which some server looks for its output cap. */
export const capHolders = ["options", "parameters", "sampling_params", "generation_config"] as const;

/**
 * What happens to a restricted member of a request. A client could use it to choose another model, price or cap.
 * `drop`: it is removed, where the response stays the same without it. `refuse`: a 400 with its `param`.
 */
export type MemberRule = "pass" | "drop" | "refuse";

/** Members with the same rule. */
interface Restriction {
  readonly rule: Exclude<MemberRule, "pass">;
  /** The reason; it follows the member's name in the error. */
  readonly why: string;
  /** What to do instead. */
  readonly advice?: string;
  readonly names: readonly string[];
  /** Further neutral values, as JSON without white space. */
  readonly neutral?: readonly string[];
}

/** Values that request nothing, for every member. `{}` is not among them: some servers read it as "the default". */
export const neutralValues: readonly string[] = ["null", "false", "[]", '""'];

const list = (names: string): string[] => names.split(" ");

/**
 * The restricted members of all servers: OpenAI and Azure, OpenRouter, Groq, Mistral, DeepSeek, vLLM, SGLang, TGI,
 * llama.cpp, Ollama, LM Studio, LiteLLM, xAI, Qwen, and the gateways in front of them. A name that a server does not
 * know does no harm there. The list lacks the caps that the gateway itself reads, and features within a cap, such as
 * reasoning.
 */
export const restrictions: readonly Restriction[] = [
  {
    rule: "refuse",
    why: "chooses another model or adapter",
    names: list(
      "models model_list fallbacks fallback_models context_window_fallbacks content_policy_fallbacks preset compound_custom " +
        "safety_model deployment_id specific_deployment lora loras lora_path lora_name lora_request lora_adapters adapter " +
        "adapter_id adapter_source control_vectors",
    ),
  },
  {
    rule: "refuse",
    why: "chooses where the request goes, or by whose account and code it is served",
    neutral: ["{}"],
    names: list(
      "provider provider_options api_base base_url api_key custom_llm_provider user_config extra_body extra_headers " +
        "extra_query inference_geo kv_transfer_params ec_transfer_params bootstrap_host bootstrap_port bootstrap_room " +
        "data_parallel_rank routed_dp_rank custom_logit_processor logits_processors vllm_xargs debug",
    ),
  },
  {
    rule: "refuse",
    why: "limits the answer's length under another name",
    advice: "Send 'max_tokens' or 'max_completion_tokens'.",
    neutral: ["{}"],
    names: [...otherCapNames, "max_output_tokens", ...capHolders],
  },
  {
    rule: "refuse",
    why: "makes the answer longer than the model would",
    neutral: ["0"],
    names: list("min_tokens min_new_tokens min_completion_tokens min_length ignore_eos"),
  },
  {
    rule: "refuse",
    why: "asks for several answers under another name",
    advice: "Send 'n'.",
    neutral: ["1", "0"],
    names: list(
      "best_of use_beam_search num_beams beam_width num_return_sequences num_completions num_generations candidate_count n_cmpl",
    ),
  },
  {
    rule: "refuse",
    why: "makes the prompt longer than it was sent",
    names: list("chat_template mm_processor_kwargs media_io_kwargs safe_prompt prompt_mode"),
    neutral: ["{}"],
  },
  {
    rule: "refuse",
    why: "has the server do more than answer, at a price of its own",
    names: list(
      "web_search_options web_search enable_search enable_web_search search_options search_parameters search_settings " +
        "plugins mcp_servers data_sources",
    ),
  },
  {
    rule: "refuse",
    why: "asks for an answer that is fetched later, past what the gateway counts",
    names: list("deferred background"),
  },
  {
    rule: "refuse",
    why: "asks for output that is priced apart from text",
    neutral: ['["text"]'],
    names: list("modalities audio image_config"),
  },
  {
    rule: "drop",
    why: "chooses another price or another place in the queue",
    neutral: ['"auto"', '"default"', '"on_demand"', "0"],
    names: list("service_tier speed priority"),
  },
  {
    rule: "drop",
    why: "is charged apart, by tokens beyond the cap or by what is written to a cache",
    names: list("prediction cache_control prompt_cache_options"),
  },
  {
    rule: "drop",
    why: "uses the operator's account or server beyond the answer",
    names: list("store route transforms id_slot slot_id keep_alive ttl draft_model"),
  },
];

/**
 * How a server departs from OpenAI's API, as plain data. Request members that it does not know are renamed or removed.
 * Its own forms of responses are converted. Every member is optional; absent means: as OpenAI does.
 */
export interface Dialect {
  /**
   * The only name under which the server accepts the output cap. A cap of the other name is renamed, so that it takes
   * effect. Of two caps the smaller one is sent. Default: both are sent unchanged.
   */
  capName?: "max_tokens" | "max_completion_tokens" | undefined;
  /** The role that replaces `developer`. Default: `developer`. */
  developerRole?: "system" | "user" | undefined;
  /**
   * The role that messages of the roles `system` and `developer` get where they are not the first message. Some chat
   * templates refuse them there, and coding agents send them. Default: as any other.
   */
  laterSystemRole?: "user" | undefined;
  /**
   * New names of request members, by OpenAI's names. If the request has a member of the new name already, that one is
   * kept.
   */
  renamed?: Readonly<Record<string, string>> | undefined;
  /** Request members to remove, since the server refuses them. Not `model`, `messages`, `input` or `stream`. */
  dropped?: readonly string[] | undefined;
  /**
   * Whether to refuse or remove request members by which a client would choose another model, price or cap. The table
   * of `docs/restricted-members.md` lists them. The presets have it on. Default: `false`, so that unknown members reach
   * an unknown server.
   */
  strictMembers?: boolean | undefined;
  /**
   * What happens to restricted members, by name. `refuse`: a 400 with its `param`. `drop`: removed. `pass`: sent. It
   * overrides {@link strictMembers} name by name, and may add names. `tools` means tools that the server itself runs;
   * they cannot be dropped.
   */
  restricted?: Readonly<Record<string, MemberRule>> | undefined;
  /** Members of messages to remove, since the server refuses them. Not `role` or `content`. */
  droppedFromMessages?: readonly string[] | undefined;
  /**
   * Whether the `usage` of a response with several choices counts one of them alone: in a stream, each its own; in a whole
   * response, the first. Streams are charged by the sum. In whole responses, the other choices, and the prompts behind the
   * first one, are estimated. Default: `false`.
   */
  usagePerChoice?: boolean | undefined;
  /**
   * What a missing `finish_reason` is, whole and streamed. `optional`: nothing; the end of a whole response, or `[DONE]`, is
   * the end of what has begun. `required`: the response was cut off. Default: nothing in a whole response, which comes with
   * its own end; in a stream, it was cut off.
   */
  finishReason?: "optional" | "required" | undefined;
  /** Members of `usage` that clients must not get, such as what the server bills you. */
  hiddenUsage?: readonly string[] | undefined;
  /**
   * In which form the server gives images: what it is sent as `response_format`, whatever the client says. A client that asks
   * for the other form gets a 400. `none`: it knows no `response_format`, and gives base64. Default: what the client says; but
   * `none` for models whose names begin with `gpt-image-` or `chatgpt-image-`, which refuse that member.
   */
  imageFormat?: "b64_json" | "url" | "none" | undefined;
  /**
   * The formats of transcripts that the server knows beside `json`. Where minutes are priced, it is asked for `verbose_json`,
   * which says how long the audio was, and clients get what they asked for, made of it. A client that wants what cannot be made
   * gets the server's own, which is charged by an estimate. Default: all; of models such as `gpt-4o-transcribe`, `json` alone.
   */
  transcriptFormats?: readonly string[] | undefined;
  /** The format in which the server says how long the audio was. Default: `verbose_json`. */
  timedTranscripts?: "json" | "verbose_json" | undefined;
  /** Fields that a request for a transcript's stream gets, such as vLLM's `{ stream_include_usage: "true" }`. Default: none. */
  transcriptStream?: { readonly fields: Readonly<Record<string, string>> } | undefined;
  /**
   * Whether the server sends speech as events, too, which have its usage. Models that are priced by tokens are asked for them.
   * Default: `false`.
   */
  speechEvents?: boolean | undefined;
  /**
   * How the server speaks of reranking. `cohere`: documents are texts. `jina`: they may be objects, too. `voyage`: as `cohere`,
   * with `top_k` and `data` for `top_n` and `results`. `tei`: `texts`, answered by a bare list. Default: `cohere`, which vLLM,
   * llama.cpp, Infinity and others read.
   */
  rerank?: "cohere" | "jina" | "voyage" | "tei" | undefined;
  /**
   * The header of the API key. Any other than `authorization` contains the key alone, without `Bearer`. Default:
   * `authorization`.
   */
  keyHeader?: string | undefined;
  /** Calls go to `/deployments/{model}/…` below the base URL. Default: `false`. */
  deploymentPaths?: boolean | undefined;
  /**
   * Converts an error to OpenAI's format. It gets an error response, or an error in a stream, and may correct the
   * status. Default: unchanged.
   */
  readError?: ((error: UpstreamErrorResponse, request: FailedRequest) => UpstreamErrorResponse) | undefined;
}

/** An error as the server sent it. */
export interface UpstreamErrorResponse {
  /** The HTTP status. For an error inside a 200: the status that fits best. */
  status: number;
  /** The parsed body. OpenAI's is `{ error: { message, type, param, code } }`. `undefined` when it is not JSON. */
  body: unknown;
}

/** The request that failed. */
export interface FailedRequest {
  /** The member that holds the prompt: `messages` of a chat completion, `input` of embeddings. */
  promptParam: string;
}

/**
 * The server's error in OpenAI's format. If the dialect's function throws or returns no such error, the error stays as
 * it is.
 */
export function readErrorResponse(
  dialect: Dialect | undefined,
  error: UpstreamErrorResponse,
  { promptParam }: FailedRequest,
): UpstreamErrorResponse {
  if (dialect?.readError === undefined) return error;
  try {
    const read: unknown = dialect.readError(error, { promptParam });
    return isErrorResponse(read) ? read : error;
  } catch {
    return error;
  }
}

function isErrorResponse(value: unknown): value is UpstreamErrorResponse {
  return isRecord(value) && Number.isInteger(value["status"]);
}

/** All names in a dialect: members that it renames or removes, and new names. */
export function dialectNames({ capName, renamed, dropped }: Dialect): string[] {
  return [...(capName === undefined ? [] : [capName]), ...Object.entries(renamed ?? {}).flat(), ...(dropped ?? [])];
}

/** What a dialect means for the requests of a model, one of whose targets speaks it. */
export class ModelDialect {
  /** Whether the server is not sent every cap of a request. */
  readonly dropsCaps: boolean;
  /** The dialect's names, by their folded forms. */
  readonly #names: ReadonlyMap<string, string>;

  constructor(dialect: Dialect) {
    this.dropsCaps = capNames.some((name) => dialect.dropped?.includes(name));
    this.#names = new Map(dialectNames(dialect).map((name) => [foldName(name), name]));
  }

  /**
   * Refuses members that a server could read as one that its dialect renames or removes. They would bypass the dialect.
   *
   * @param strangers - names of the request's members, by their folded forms.
   * @throws GatewayError 400
   */
  requireOwnNames(strangers: ReadonlyMap<string, string>): void {
    for (const [folded, name] of strangers) {
      const meant = this.#names.get(folded);
      if (meant !== undefined && meant !== name) throw misspelledName(name, meant);
    }
  }
}
