import { ProtocolTable, words } from "../../model-api/tables/protocol-table.js";

/** What a request for a completion of a text may hold, at OpenAI and at the servers that speak its API. */
export const completionsTable = new ProtocolTable(
  {
    protocol: "completions",
    reference: 'OpenAI, "Create completion" (openai 7.59.0), and the servers of restricted-members.ts',
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
