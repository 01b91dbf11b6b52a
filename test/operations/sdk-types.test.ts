import { describe, expect, it } from "vitest";
import { meaningOfEnd } from "../../src/model-api/answer/ends.js";
import { restrictions } from "../../src/model-api/request/restricted-members.js";
import type { Place } from "../../src/model-api/tables/protocol-table.js";
import { protocolTables } from "../../src/operations/protocol-tables.js";
import { readSdkTypes } from "../support/sdk-types.js";

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
    stops: "Messages.StopReason | BetaMessages.BetaStopReason",
  },
);

const messages = protocolTables.find(({ protocol }) => protocol === "messages");
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
