import { ProtocolTable, words } from "../shared/protocol-table.js";

const serverRuns = "is a tool that the server runs itself, at a price of its own";
const ownFile = "names a file in the operator's account, which all clients share";

/** What a request for a message may hold. */
export const messagesTable = new ProtocolTable(
  {
    protocol: "messages",
    reference: 'Anthropic, "Create a Message", with all betas (@anthropic-ai/sdk 1.14.0, version 2026-10-21)',
    date: "2026-11-29",
    own: ["tools", "cache_control", "thinking"],
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model messages system max_tokens stream stop_sequences temperature top_k top_p tools tool_choice thinking
        output_config output_format metadata betas`),
    },
    { place: "member", treatment: "priced", names: words("cache_control context_management compaction") },
    {
      place: "member",
      treatment: "refused",
      always: true,
      names: ["thread"],
      why: "continues a conversation that the server keeps for all clients of the operator together",
      advice: "Send the whole conversation as 'messages'.",
    },
    {
      place: "member",
      treatment: "refused",
      names: ["container"],
      why: "runs code in a container of the operator's, at a price of its own",
      neutral: ["{}", '{"id":null}', '{"id":null,"skills":null}', '{"skills":null}', '{"skills":[]}'],
    },
    {
      place: "member",
      treatment: "refused",
      names: ["diagnostics"],
      why: "compares the request with one that may be another client's",
      neutral: ["{}", '{"previous_message_id":null}'],
    },
    {
      place: "member",
      treatment: "refused",
      names: words("fallback_credit_token billing_policy user_profile_id workspace_id"),
      why: "chooses who pays, and what",
    },
    {
      place: "block",
      treatment: "passes",
      names: words(`
        text image document search_result thinking redacted_thinking tool_use tool_result tool_reference server_tool_use
        web_search_tool_result web_search_result web_fetch_tool_result web_fetch_result advisor_tool_result
        code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result
        tool_search_tool_result mcp_tool_use mcp_tool_result mcp_tool_listing browser_state compaction fallback
        tool_addition tool_removal`),
    },
    { place: "block", treatment: "refused", names: ["container_upload"], why: ownFile },
    { place: "source", treatment: "passes", names: words("base64 url text content") },
    {
      place: "source",
      treatment: "refused",
      names: ["file_id"],
      why: ownFile,
      advice: "Send the file itself, as base64.",
    },
    { place: "edit", treatment: "passes", names: words("clear_tool_uses_20250919 clear_thinking_20251015") },
    { place: "edit", treatment: "priced", names: ["compact_20260112"] },
    {
      place: "tool",
      treatment: "passes",
      names: words(`
        custom bash_20* text_editor_20* memory_20* computer_20* computer_toolset_20* browser_toolset_20*
        tool_search_tool_bm25 tool_search_tool_bm25_20* tool_search_tool_regex tool_search_tool_regex_20*`),
    },
    {
      place: "tool",
      treatment: "refused",
      names: words("web_search_20* web_fetch_20* code_execution_20* advisor_20* mcp_toolset"),
      why: serverRuns,
    },
    {
      place: "tool member",
      treatment: "passes",
      names: words("input_schema cache_control input_examples allowed_callers configs"),
    },
    {
      place: "inner member",
      treatment: "passes",
      names: words(`
        content source cache_control citations caller thinking output_config format task_budget block_binding edits trigger
        keep clear_at_least tool tool_changes tool_references tools transformations state_changes tabs from to
        prompt_cache_breakpoint`),
    },
    { place: "open member", treatment: "passes", names: words("messages system tools metadata") },
    {
      place: "open inner member",
      treatment: "passes",
      names: words("input input_schema input_examples schema configs definition annotations"),
    },
    {
      place: "beta",
      treatment: "passes",
      names: words(`
        claude-code-20250219 interleaved-thinking-2025-05-14 interleaved-thinking dev-full-thinking-2025-05-14
        thinking-token-count-2026-05-13 thinking-display-updates-2026-08-18 thinking-binding-controls-2026-08-01
        effort-2025-11-24 task-budgets-2026-03-13 structured-outputs-2025-11-13 context-management-2025-06-27
        mid-conversation-system-2026-04-07 mid-conversation-tool-changes-2026-07-01
        mid-conversation-output-config-2026-07-01 mid-conversation-system-clear-at-2026-08-21 inline-tools-2026-09-15
        advanced-tool-use-2025-11-20 tool-search-tool-2025-10-19 tool-examples-2025-10-29 token-efficient-tools-2025-02-19
        fine-grained-tool-streaming-2025-05-14 computer-use-2024-10-22 computer-use-2025-01-24 computer-use-2025-11-24
        prompt-caching-2024-07-31 prompt-caching-scope-2026-01-05 extended-cache-ttl-2025-04-11 pdfs-2024-09-25
        token-counting-2024-11-01 max-tokens-3-5-sonnet-2024-07-15 output-128k-2025-02-19 output-300k-2026-03-24
        model-context-window-exceeded-2025-08-26 web-search-2025-03-05`),
    },
    { place: "beta", treatment: "priced", names: words("context-1m-20* compact-2026-01-12 compact-2026-09-04") },
    {
      place: "beta",
      treatment: "left out",
      names: words(`
        message-threads-2026-08-12 fast-mode-2026-02-01 advisor-tool-2026-03-01 server-side-fallback-2026-06-01
        server-side-fallback-2026-07-01 fallback-credit-2026-06-01 fallback-credit-2026-07-01 code-execution-2025-05-22
        code-execution-2025-08-25 web-fetch-2025-09-10 files-api-2025-04-14 skills-2025-10-02 mcp-client-2025-04-04
        mcp-client-2025-11-20 mcp-client-2026-09-15 mcp-tunnels-2026-06-22 agent-memory-2026-07-22
        cache-diagnosis-2026-04-07 user-profiles-2026-03-24 user-profiles-2026-08-18 user-profiles-2026-09-04
        user-profiles-billing-2026-10-01 managed-agents-2026-04-01 dreaming-2026-04-21 message-batches-2024-09-24
        ce-plugins-2026-09-01 ce-user-management-2026-07-13 ce-claude-code-managed-settings-2026-10-06
        spend-limit-reads-2026-09-26 telemetry-destinations-2026-08-11 webhooks-2026-10-07 efs-2026-10-01
        admin-user-sign-out-2026-10-08 analytics-usage-cost-2026-08-24 experimental-claude-tag-2026-10-21
        google-managed-data-controls-2026-09-01`),
    },
  ],
);
