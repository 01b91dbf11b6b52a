import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatLayout } from "../../../../src/protocols/chat/chat-completions.js";
import { messagesLayout } from "../../../../src/protocols/messages/messages.js";
import { responsesLayout } from "../../../../src/protocols/responses/responses.js";
import { inputLayout, type PromptLayout } from "../../../../src/protocols/shared/prompt-layout.js";
import { findPromptTexts } from "../../../../src/protocols/shared/prompt-texts.js";
import { spelled } from "./spelled.js";

type Json = Record<string, unknown>;

const schema = {
  type: "object",
  title: "T",
  properties: { city: { type: "string", enum: ["Oslo"], default: "Oslo", examples: ["Bergen"], pattern: "^[A-Z]" } },
  required: ["city"],
  $defs: { a: { const: "x", $ref: "#/$defs/b", $comment: "c" } },
};

/** Requests with everything in them that a client may send. */
const requests: Record<string, { readonly layout: PromptLayout; readonly request: Json }> = {
  chat: {
    layout: chatLayout,
    request: {
      messages: [
        { role: "system", content: "a", name: "n" },
        {
          role: "user",
          content: [
            { type: "text", text: "a", cache_control: { type: "ephemeral" } },
            { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "low" } },
            { type: "file", file: { filename: "a.pdf", file_id: "file_1" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          refusal: "a",
          reasoning_content: "a",
          reasoning_details: [{ type: "reasoning.text", text: "a", format: "x", id: "r" }],
          tool_calls: [
            {
              id: "c",
              type: "function",
              function: { name: "f", arguments: "{}" },
              extra_content: { google: { thought_signature: "c2ln" } },
            },
          ],
          function_call: { name: "f", arguments: "{}" },
        },
        { role: "tool", tool_call_id: "c", content: "a" },
      ],
      tools: [
        { type: "function", function: { name: "f", description: "a", parameters: schema } },
        {
          type: "custom",
          custom: { name: "g", format: { type: "grammar", grammar: { syntax: "lark", definition: "a" } } },
        },
      ],
      functions: [{ name: "f", description: "a", parameters: schema }],
      response_format: { type: "json_schema", json_schema: { name: "n", description: "a", schema } },
      prediction: { type: "content", content: "a" },
      tool_choice: { type: "function", function: { name: "f" } },
      reasoning_effort: "low",
      verbosity: "low",
      documents: [{ title: "a", text: "a" }],
      chat_template_kwargs: { system: "a" },
      chat_template: "a",
      guided_json: schema,
      web_search_options: { user_location: { type: "approximate", approximate: { city: "Oslo" } } },
    },
  },
  responses: {
    layout: responsesLayout,
    request: {
      instructions: "a",
      input: [
        { role: "user", content: "a" },
        { role: "developer", content: [{ type: "input_text", text: "a" }] },
        { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "a" }], encrypted_content: "gAAA" },
        { type: "function_call", call_id: "c", name: "f", arguments: "{}", namespace: "n" },
        { type: "function_call_output", call_id: "c", output: "a" },
        { type: "custom_tool_call", call_id: "d", name: "g", input: "a" },
        { type: "custom_tool_call_output", call_id: "d", output: [{ type: "input_text", text: "a" }] },
        { type: "mcp_call", id: "m", name: "f", server_label: "s", arguments: "{}", output: "a", error: "a" },
        {
          type: "file_search_call",
          id: "f",
          queries: ["a"],
          results: [{ filename: "a", text: "a", attributes: { b: "a" } }],
        },
        { type: "program_output", id: "p", call_id: "p", result: "a" },
        {
          type: "tool_search_output",
          call_id: "t",
          tools: [{ type: "function", name: "f", description: "a", parameters: schema }],
        },
        { type: "compaction", encrypted_content: "gAAA" },
      ],
      tools: [
        { type: "function", name: "f", description: "a", parameters: schema },
        { type: "namespace", name: "n", description: "a", tools: [{ type: "custom", name: "g", description: "a" }] },
        {
          type: "web_search",
          user_location: { type: "approximate", city: "Oslo" },
          filters: { allowed_domains: ["a.example"] },
        },
      ],
      text: { format: { type: "json_schema", name: "n", description: "a", schema }, verbosity: "low" },
      reasoning: { effort: "low", summary: "auto" },
      prompt: { id: "p", version: "1", variables: { a: "a" } },
      context_management: [{ type: "compaction", instructions: "a" }],
      tool_choice: "auto",
      something: { new: ["a"] },
    },
  },
  messages: {
    layout: messagesLayout,
    request: {
      system: [{ type: "text", text: "a" }],
      messages: [
        { role: "user", content: "a" },
        {
          role: "system",
          content: [
            {
              type: "tool_addition",
              tool: { type: "tool_definition", definition: { name: "f", description: "a", input_schema: schema } },
            },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "a", signature: "c2ln" },
            { type: "tool_use", id: "t", name: "f", input: { a: "a", type: "b" } },
            { type: "compaction", content: "a" },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "a" }] },
            {
              type: "document",
              source: { type: "text", media_type: "text/plain", data: "a" },
              title: "a",
              context: "a",
            },
            {
              type: "web_search_tool_result",
              tool_use_id: "t",
              content: [{ type: "web_search_result", title: "a", url: "https://a.example" }],
            },
            {
              type: "search_result",
              source: "a",
              title: "a",
              content: [{ type: "text", text: "a", citations: [{ type: "x", cited_text: "a" }] }],
            },
          ],
        },
      ],
      tools: [
        {
          name: "f",
          description: "a",
          input_schema: schema,
          input_examples: [{ city: "Oslo" }],
          cache_control: { type: "ephemeral" },
        },
      ],
      tool_choice: { type: "tool", name: "f" },
      thinking: { type: "adaptive", display: "summarized" },
      context_management: {
        edits: [{ type: "compact_20260112", instructions: "a", trigger: { type: "input_tokens" } }],
      },
      compaction: { type: "auto", instructions: "a" },
      output_config: { effort: "low", format: { type: "json_schema", schema } },
      output_format: { type: "json_schema", schema },
      mcp_servers: [{ type: "url", url: "https://a.example", name: "n", authorization_token: "t" }],
      thread: { type: "create" },
      something: "a",
    },
  },
  embeddings: {
    layout: inputLayout,
    request: { input: ["a"], instruction: "a", prompt_name: "a", extra: { a: "a" } },
  },
};

/** The paths of all strings. */
function stringPaths(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value === "string") return [[...path]];
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([name, member]) => stringPaths(member, [...path, name]));
}

/** The paths of all objects. */
function objectPaths(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  const inner = entries.flatMap(([name, member]) => objectPaths(member, [...path, name]));
  return Array.isArray(value) ? inner : [[...path], ...inner];
}

function changed(json: Json, path: readonly (string | number)[], change: (holder: Json, name: string) => void): Json {
  const copy = structuredClone(json);
  let holder = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>;
  change(holder as Json, String(path.at(-1)));
  return copy;
}

function textsOf(request: Json, layout: PromptLayout, pick: Iterator<number>): string[] {
  const body = spelled({ model: "m", user: "u", metadata: { a: "b c" }, ...request }, pick);
  return findPromptTexts(body, layout).map(({ start, end }) => JSON.parse(body.toString("utf8", start, end)) as string);
}

const sentence = fc
  .tuple(fc.stringMatching(/^[A-Za-z]{1,8}$/), fc.constantFrom(" ", "\n", "私", "é ", "\t"))
  .map(([word, mark]) => `${word}${mark}${word}`);
const anyPick = fc.infiniteStream(fc.nat(9));

describe.each(Object.entries(requests))("whatever a client writes into a request for %s, a hook sees it", (_, kind) => {
  const { layout, request } = kind;

  it("in place of any string", () => {
    fc.assert(
      fc.property(fc.constantFrom(...stringPaths(request)), sentence, anyPick, (path, text, pick) => {
        const json = changed(request, path, (holder, name) => (holder[name] = text));
        expect(textsOf(json, layout, pick)).toContain(text);
      }),
      { numRuns: 300 },
    );
  });

  it("as a new member of any object, by its name or its value", () => {
    const place = fc.constantFrom(...objectPaths(request).filter((path) => path.length > 0));
    const value = fc.constantFrom<(text: string) => unknown>(
      (text) => text,
      (text) => [text],
      (text) => ({ deep: { er: [text] } }),
    );
    fc.assert(
      fc.property(place, sentence, value, anyPick, (path, text, of, pick) => {
        const add = (member: string, content: unknown) =>
          changed(request, path, (holder, name) => {
            (holder[name] as Json)[member] = content;
          });
        expect(textsOf(add("unheard_of", of(text)), layout, pick)).toContain(text);
        expect(textsOf(add(text, { a: 1 }), layout, pick)).toContain(text);
      }),
      { numRuns: 300 },
    );
  });

  it("as a member of the request that nobody knows", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,9}_[a-z]{3,9}x$/), fc.string(), anyPick, (name, text, pick) => {
        expect(textsOf({ ...request, [name]: { a: [text] } }, layout, pick)).toContain(
          JSON.parse(JSON.stringify(text)),
        );
      }),
    );
  });
});

describe("what no model reads", () => {
  it("is no text: settings, ids, URLs and the caller's own notes", () => {
    const { chat, messages, responses } = requests as Record<
      "chat" | "messages" | "responses",
      { layout: PromptLayout; request: Json }
    >;
    const none = [0][Symbol.iterator]();
    for (const { layout, request } of [chat, messages, responses]) {
      const texts = textsOf(request, layout, none);
      for (const word of ["low", "auto", "function", "b c", "u", "file_1", "https://example.com/a.png", "t"]) {
        expect(texts).not.toContain(word);
      }
    }
  });
});
