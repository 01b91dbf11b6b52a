import { describe, expect, it } from "vitest";
import type { UpstreamStatusError } from "../../../src/errors/upstream-fault.js";
import { fromAnthropicErrorEvent } from "../../../src/protocols/messages/anthropic-error.js";
import { blockText } from "../../../src/protocols/messages/message-response.js";
import { protocolTables } from "../../../src/protocols/operations.js";
import { restrictions } from "../../../src/protocols/shared/dialect.js";
import { isOwnAccount } from "../../../src/protocols/shared/own-account.js";
import { type Place, words } from "../../../src/protocols/shared/protocol-table.js";
import { meaningOfEnd } from "../../../src/protocols/shared/received-response.js";
import { fromErrorObject } from "../../../src/protocols/shared/upstream-failure.js";
import { readSdkTypes } from "../../support/sdk-types.js";

/** Everything that the SDKs' types let their clients send, and everything by which their servers end a response. */
const sdk = readSdkTypes(
  `
  import type * as Chat from "openai/resources/chat/completions/completions";
  import type * as Completions from "openai/resources/completions";
  import type * as Images from "openai/resources/images";
  import type * as Moderations from "openai/resources/moderations";
  import type * as Speech from "openai/resources/audio/speech";
  import type * as Transcriptions from "openai/resources/audio/transcriptions";
  import type * as Translations from "openai/resources/audio/translations";
  import type * as Responses from "openai/resources/responses/responses";
  import type * as BetaResponses from "openai/resources/beta/responses/responses";
  import type * as Messages from "@anthropic-ai/sdk/resources/messages/messages";
  import type * as BetaMessages from "@anthropic-ai/sdk/resources/beta/messages/messages";
  import type * as Beta from "@anthropic-ai/sdk/resources/beta/beta";
  import type * as Shared from "@anthropic-ai/sdk/resources/shared";
  import type * as Agents from "openai/resources/beta/agents/agents";
  type Items<T> = T extends readonly (infer U)[] ? U : never;
  type Member<T, K extends string> = T extends { [P in K]?: infer V } ? NonNullable<V> : never;
  `,
  {
    chat: "Chat.ChatCompletionCreateParams",
    chatParts: "Items<Member<Chat.ChatCompletionMessageParam, 'content'>>",
    chatTools: "Chat.ChatCompletionTool",
    chatEnds: "Chat.ChatCompletion.Choice['finish_reason']",
    completions: "Completions.CompletionCreateParams",
    completionsEnds: "Completions.CompletionChoice['finish_reason']",
    moderations: "Moderations.ModerationCreateParams",
    moderationParts: "Moderations.ModerationMultiModalInput",
    images: "Images.ImageGenerateParams",
    edits: "Images.ImageEditParams",
    speech: "Speech.SpeechCreateParams",
    transcriptions: "Transcriptions.TranscriptionCreateParams",
    translations: "Translations.TranslationCreateParams",
    responses: "Responses.ResponseCreateParams | BetaResponses.ResponseCreateParams",
    items: "Responses.ResponseInputItem | BetaResponses.BetaResponseInputItem | Responses.ResponseOutputItem",
    itemParts:
      "Items<Member<Responses.ResponseInputItem | BetaResponses.BetaResponseInputItem | Responses.ResponseOutputItem, 'content' | 'output'>>",
    responsesTools: "Responses.Tool | BetaResponses.BetaTool",
    responsesEnds: "NonNullable<Responses.Response.IncompleteDetails['reason']>",
    messages: "Messages.MessageCreateParams | BetaMessages.MessageCreateParams",
    blocks: "Messages.ContentBlockParam | BetaMessages.BetaContentBlockParam | BetaMessages.BetaContentBlock",
    resultBlocks: "Items<Member<BetaMessages.BetaToolResultBlockParam, 'content'>>",
    sources: "Member<Extract<BetaMessages.BetaContentBlockParam, { source: unknown }>, 'source'>",
    messagesTools: "Messages.ToolUnion | BetaMessages.BetaToolUnion",
    contextEdits: "Items<NonNullable<BetaMessages.BetaContextManagementConfig['edits']>>",
    betas: "Beta.AnthropicBeta",
    anthropicCodes: "Member<Shared.ErrorDetails, 'error_code'>",
    anthropicTypes: "Shared.ErrorType",
    openaiCodes: "Responses.ResponseError['code'] | Agents.SessionTurnError['code']",
    deltas: "Extract<Responses.ResponseStreamEvent, { delta: unknown }>",
    textDeltas: "Extract<Responses.ResponseStreamEvent, { delta: string }>",
    blockDeltas: "BetaMessages.BetaRawContentBlockDelta",
    stops: "Messages.StopReason | BetaMessages.BetaStopReason",
  },
);

const messages = protocolTables.find(({ protocol }) => protocol === "messages");
const errorContext = {
  model: "m",
  upstreamModel: "u",
  promptParam: "messages",
  startedAt: 0,
  secrets: () => ({ keys: [], urls: [] }),
};
const general = new Set(restrictions.flatMap(({ names }) => names));

describe.each<[protocol: string, place: Place, names: string[]]>([
  ["chat/completions", "member", sdk.members("chat")],
  ["chat/completions", "block", sdk.types("chatParts")],
  ["chat/completions", "tool", sdk.types("chatTools")],
  ["completions", "member", sdk.members("completions")],
  ["moderations", "member", sdk.members("moderations")],
  ["moderations", "block", sdk.types("moderationParts")],
  ["images/generations", "member", sdk.members("images")],
  ["images/edits", "member", sdk.members("edits")],
  ["audio/speech", "member", sdk.members("speech")],
  ["audio/transcriptions", "member", sdk.members("transcriptions")],
  ["audio/translations", "member", sdk.members("translations")],
  ["responses", "member", sdk.members("responses")],
  ["responses", "item", sdk.types("items")],
  ["responses", "block", sdk.types("itemParts")],
  ["responses", "tool", sdk.types("responsesTools")],
  ["messages", "member", sdk.members("messages")],
  ["messages", "block", [...sdk.types("blocks"), ...sdk.types("resultBlocks")]],
  // A source that is a file is found by its id.
  ["messages", "source", sdk.types("sources").filter((type) => type !== "file")],
  ["messages", "tool", sdk.types("messagesTools")],
  [
    "messages",
    "tool member",
    sdk.objectMembers("messagesTools", (type) => messages?.find("tool", type)?.treatment !== "refused"),
  ],
  ["messages", "edit", sdk.types("contextEdits")],
  ["messages", "beta", sdk.texts("betas")],
])("of what the SDKs send to %s", (protocol, place, names) => {
  it(`the table knows each ${place}`, () => {
    const table = protocolTables.find((each) => each.protocol === protocol);
    expect(names).not.toEqual([]);
    expect(names.filter((name) => table?.find(place, name) === undefined && !general.has(name))).toEqual([]);
  });
});

it("each end of a response has a meaning", () => {
  const ends = ["chatEnds", "completionsEnds", "responsesEnds", "stops"].flatMap((name) => sdk.texts(name));
  expect(ends.length).toBeGreaterThan(10);
  expect(ends.filter((end) => meaningOfEnd(end) === undefined)).toEqual([]);
});

describe("of what the vendors' errors say", () => {
  const isAccount = (code: string) => isOwnAccount({ type: "", code, message: "" });

  it("this is about the operator's account, and none of it about the request", () => {
    const all = [...sdk.texts("anthropicCodes"), ...sdk.texts("anthropicTypes"), ...sdk.texts("openaiCodes")];
    expect(all.filter(isAccount).sort()).toEqual(
      words(`
        billing_error billing_not_active claude_code_key_creator_not_member cmek_feature_unsupported cmek_key_disabled
        cmek_key_network_blocked cmek_not_approved contract_spend_limit_reached credit_balance_exhausted
        enforced_spend_limit_reached external_key_in_workspace_policy external_storage_in_workspace_policy
        gcp_project_controlled_by_another_organization key_profile_mismatch linked_organization_billing_unavailable
        linked_organization_spend_limit_reached organization_level_scoped_api_key_required organization_not_eligible
        organization_not_enrolled_in_beta organization_on_hold organization_spend_limit_exceeded
        organization_type_not_supported organization_usage_limit_exceeded parent_organization_required
        project_spend_limit_exceeded session_budget_exceeded spend_limits_admin_api_writes_not_enabled
        storage_quota_exceeded usage_limit_exceeded user_profile_billing_not_authorized workspace_api_key_limit_exceeded
        workspace_changed_concurrently workspace_created_incomplete workspace_human_review_disabled
        workspace_member_limit_exceeded workspace_policy_violation`),
    );
  });

  it("each code of a response that failed has its status", () => {
    const byStatus: Record<number, string[]> = {};
    for (const code of sdk.texts("openaiCodes").filter((each) => !isAccount(each))) {
      const { status } = fromErrorObject({ code, message: "No." }, errorContext);
      byStatus[status] = [...(byStatus[status] ?? []), code];
    }
    expect(byStatus).toEqual({
      400: words(`
        bio_policy context_length_exceeded cyber_policy empty_image_file failed_to_download_image
        image_content_policy_violation image_file_not_found image_file_too_large image_parse_error image_too_large
        image_too_small invalid_base64_image invalid_image invalid_image_format invalid_image_mode invalid_image_url
        invalid_prompt invalid_request misalignment_policy_violation unsupported_image_media_type`),
      429: ["rate_limit_exceeded"],
      502: words(`
        active_turn_not_steerable authentication_error connection_failed data_residency_mismatch
        executor_version_incompatible flex_unavailable internal_error max_output_tokens request_timeout
        resource_not_found sandbox_error server_error server_overloaded vector_store_timeout`),
    });
  });

  it("each type of Anthropic's has its status", () => {
    const statusOf = (type: string) => {
      const { cause } = fromAnthropicErrorEvent({ type: "error", error: { type, message: "no" } }, errorContext);
      return (cause as UpstreamStatusError).status;
    };
    // Those of memory are of an API that is not called.
    const types = sdk.texts("anthropicTypes").filter((type) => !type.startsWith("memory_"));
    expect(types.filter((type) => statusOf(type) === 500)).toEqual(["api_error"]);
  });
});

describe("of the pieces of a stream", () => {
  it("those of a text are texts, but for tools that the server runs", () => {
    const texts = sdk.types("textDeltas");
    expect(sdk.types("deltas").filter((type) => !texts.includes(type))).toEqual([
      "response.shell_call_output_content.delta",
    ]);
  });

  it("each member that the model has written counts as output", () => {
    const sample = (name: string) => blockText({ type: "compaction_delta", [name]: "words" });
    // A signature and a citation are no output, and the type names itself.
    const beside = ["citation", "encrypted_content", "estimated_tokens", "signature", "type"];
    const members = sdk.members("blockDeltas").filter((name) => !beside.includes(name));
    expect(members.map((name) => [name, sample(name)])).toEqual(members.map((name) => [name, "words"]));
  });
});
