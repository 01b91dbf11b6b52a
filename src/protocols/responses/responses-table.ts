import { ProtocolTable, words } from "../shared/protocol-table.js";

/** What a request for a response may hold. */
export const responsesTable = new ProtocolTable(
  {
    protocol: "responses",
    reference: 'OpenAI, "Create a model response" (openai 7.59.0), and what Codex 0.169.0 sends',
    date: "2026-11-29",
    own: ["max_output_tokens", "tools", "store", "metadata"],
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model input instructions stream stream_options max_output_tokens max_tool_calls temperature top_k top_p
        top_logprobs tools tool_choice parallel_tool_calls text reasoning include store metadata moderation
        safety_identifier user prompt_cache_key prompt_cache_retention truncation image client_metadata
        frequency_penalty presence_penalty logit_bias seed stop thinking chat_template_kwargs structured_outputs
        session_id trace`),
    },
    { place: "member", treatment: "priced", names: ["context_management"] },
    { place: "member", treatment: "expanded", names: ["previous_response_id"] },
    { place: "member", treatment: "refused", always: true, names: ["messages"], advice: "Send 'input'." },
    {
      place: "member",
      treatment: "refused",
      always: true,
      names: words("max_tokens max_completion_tokens"),
      advice: "Send 'max_output_tokens'.",
    },
    {
      place: "member",
      treatment: "refused",
      always: true,
      names: ["n"],
      advice: "There is one answer to each request.",
    },
    {
      place: "member",
      treatment: "refused",
      always: true,
      names: words("background background_options"),
      advice: "Responses are made while the client waits.",
    },
    {
      place: "member",
      treatment: "refused",
      always: true,
      names: ["conversation"],
      advice: "Send the items as 'input', or 'previous_response_id'.",
    },
    {
      place: "member",
      treatment: "refused",
      always: true,
      names: ["prompt"],
      advice: "Send 'instructions' and 'input'.",
    },
    {
      place: "member",
      treatment: "refused",
      names: ["access_programs"],
      why: "uses what the operator's organization has been given access to",
    },
    {
      place: "member",
      treatment: "refused",
      names: ["multi_agent"],
      why: "has the server run several agents for one response",
    },
    {
      place: "item",
      treatment: "passes",
      names: words(`
        message reasoning function_call function_call_output custom_tool_call custom_tool_call_output tool_search_call
        tool_search_output additional_tools computer_call computer_call_output local_shell_call local_shell_call_output
        shell_call shell_call_output apply_patch_call apply_patch_call_output web_search_call file_search_call
        code_interpreter_call image_generation_call mcp_list_tools mcp_approval_request mcp_approval_response mcp_call
        program program_output compaction compaction_summary configuration_update`),
    },
    { place: "item", treatment: "priced", names: ["compaction_trigger"] },
    {
      place: "item",
      treatment: "refused",
      names: words("agent_message multi_agent_call multi_agent_call_output"),
      why: "is of agents that the server runs itself",
    },
    { place: "item", treatment: "expanded", names: ["item_reference"] },
    {
      place: "block",
      treatment: "passes",
      names: words(`
        input_text input_image input_file input_audio output_text refusal text summary_text reasoning_text image_url
        computer_screenshot encrypted_content`),
    },
    {
      place: "source",
      treatment: "refused",
      names: ["file_id"],
      why: "names a file in the operator's account, which all clients share",
      advice: "Send the file itself, as a data URL.",
    },
    {
      place: "tool",
      treatment: "passes",
      names: words("function custom namespace tool_search local_shell apply_patch computer computer_use_preview"),
    },
    {
      place: "tool member",
      treatment: "passes",
      names: words("parameters output_schema format tools environment allowed_callers"),
    },
    {
      place: "inner member",
      treatment: "passes",
      names: words(`
        content summary action actions operation outcome outputs output caller results sources path annotations
        logprobs top_logprobs pending_safety_checks acknowledged_safety_checks prompt_cache_breakpoint input_audio image_url
        skills format grammar policy input`),
    },
    {
      place: "open member",
      treatment: "passes",
      names: words("input metadata client_metadata logit_bias chat_template_kwargs structured_outputs trace"),
    },
    {
      place: "open inner member",
      treatment: "passes",
      names: words("parameters output_schema input_schema schema arguments env attributes metadata"),
    },
    {
      place: "tool",
      treatment: "left out",
      names: words("web_search web_search_20* web_search_preview web_search_preview_20* image_generation"),
    },
    {
      place: "tool",
      treatment: "refused",
      names: words("file_search code_interpreter mcp shell programmatic_tool_calling"),
      why: "is a tool that the server runs itself, at a price of its own",
    },
  ],
);
