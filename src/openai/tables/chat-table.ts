import { ProtocolTable, words } from "../../model-api/tables/protocol-table.js";

/**
 * What a request for a chat completion may hold, at OpenAI and at the servers that speak its API. The members by which a
 * client would choose another model, price or cap are in `restrictions`.
 */
export const chatTable = new ProtocolTable(
  {
    protocol: "chat/completions",
    reference: 'OpenAI, "Create chat completion" (openai 7.59.0), and the servers of restricted-members.ts',
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
