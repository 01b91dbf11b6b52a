import { capHolders, otherCapNames } from "./cap-names.js";

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
