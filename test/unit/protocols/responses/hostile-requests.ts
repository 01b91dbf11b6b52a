import fc from "fast-check";

/** Names that a lookup in a plain object would find although nobody put them there. */
const inherited = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__"];

const texts = fc.constantFrom(
  ...["", "x", "\ud800", "\udfff\ud800", "\u0000", "\u2028", "é👋", "{", '"', "data:image/png;base64,AAAA", "[DONE]"],
  ...["resp_1", "msg_ig_1_0", "rs_1", "call_1", "a".repeat(300), "ig1.", "ig1.eyJvcmlnaW4iOiIifQ", ...inherited],
);

const scalars = fc.oneof(
  texts,
  fc.constantFrom<unknown>(null, true, false, 0, -0, 1, -1, 0.5, 1e308, 2 ** 53, 1.5e300),
);

const anyName = fc.oneof(texts, fc.constantFrom("type", "id", "name", "text", "tools", "input", "content"));

const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { depthSize: "small" },
  scalars,
  fc.array(scalars, { maxLength: 3 }),
  fc.array(fc.tuple(anyName, scalars), { maxLength: 3 }).map(toObject),
  fc.constant([[[[]]]]),
);

const types = {
  item: [
    ...["message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"],
    ...[
      "item_reference",
      "tool_search_call",
      "tool_search_output",
      "additional_tools",
      "web_search_call",
      "compaction",
    ],
    ...["local_shell_call", "local_shell_call_output", "shell_call", "apply_patch_call", "computer_call", "mcp_call"],
    ...["computer_call_output", "image_generation_call", "code_interpreter_call", "file_search_call", "program_output"],
    ...["mcp_approval_request", ...inherited],
  ],
  part: [
    ...["input_text", "output_text", "text", "refusal", "input_image", "input_file", "input_audio", "summary_text"],
    ...["reasoning_text", "computer_screenshot", ...inherited],
  ],
  tool: [
    ...["function", "function", "function", "function", "custom", "custom", "namespace", "namespace", "tool_search"],
    ...["web_search", "web_search_preview", "code_interpreter", "apply_patch", "constructor"],
  ],
};

/** An object of some of these members: most of the right kind, so that it gets far. */
function some(
  members: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  requiredKeys: string[] = [],
): fc.Arbitrary<object> {
  const loose = Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      fc.oneof({ weight: 60, arbitrary: value }, { weight: 1, arbitrary: anyValue }),
    ]),
  );
  const stranger = fc.tuple(anyName, anyValue).map((entry) => toObject([entry]));
  const more = fc.oneof({ weight: 20, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: stranger });
  return fc.tuple(fc.record(loose, { requiredKeys }), more).map(([known, others]) => ({ ...known, ...others }));
}

const part = some(
  {
    type: fc.constantFrom(...types.part),
    text: texts,
    refusal: texts,
    image_url: fc.oneof(texts, fc.record({ url: texts })),
    detail: fc.constantFrom("low", "original", "auto"),
    file_id: texts,
    file_url: texts,
    file_data: texts,
    filename: texts,
    input_audio: fc.record({ data: texts, format: texts }),
  },
  ["text", "refusal", "image_url", "file_data", "input_audio"],
);
const parts = fc.oneof(texts, fc.array(part, { maxLength: 3 }), fc.constant(null));

const tool: fc.Arbitrary<object> = fc.letrec<{ tool: object }>((tie) => ({
  tool: some(
    {
      type: fc.constantFrom(...types.tool),
      name: fc.constantFrom("get", "apply_patch", "x".repeat(70), "a b", "n__get", "__proto__"),
      description: texts,
      parameters: anyValue,
      strict: fc.boolean(),
      execution: fc.constantFrom("client", "server"),
      format: fc.record({ type: fc.constantFrom("text", "grammar"), definition: texts, syntax: texts }),
      tools: fc.oneof({ maxDepth: 1 }, fc.constant([]), fc.array(tie("tool"), { maxLength: 2 })),
    },
    ["name", "type", "tools"],
  ),
})).tool;

const callId = fc.constantFrom("call_1", "call_2", "__proto__", "");

const item = some(
  {
    type: fc.constantFrom(...types.item),
    id: texts,
    role: fc.constantFrom("user", "assistant", "system", "developer"),
    content: parts,
    output: fc.oneof(parts, anyValue),
    call_id: callId,
    name: fc.constantFrom("get", "apply_patch", "__proto__"),
    namespace: fc.constantFrom("n", "__proto__"),
    arguments: fc.oneof(texts, anyValue),
    input: texts,
    summary: fc.array(part, { maxLength: 2 }),
    encrypted_content: texts,
    tools: fc.array(tool, { maxLength: 2 }),
    execution: fc.constantFrom("client", "server"),
    action: anyValue,
    operation: anyValue,
    result: texts,
  },
  ["role", "content", "call_id", "name"],
);

const members: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  input: fc.oneof(texts, fc.array(item, { minLength: 1, maxLength: 3 })),
  instructions: texts,
  stream: fc.boolean(),
  stream_options: fc.record({ include_obfuscation: fc.boolean() }),
  max_output_tokens: fc.constantFrom(1, 16, 5000),
  max_tool_calls: fc.nat(3),
  temperature: fc.constantFrom(0, 1, 2),
  top_p: fc.constant(0.5),
  top_logprobs: fc.nat(20),
  tools: fc.array(tool, { maxLength: 2 }),
  tool_choice: fc.oneof(
    fc.constantFrom("none", "auto", "required"),
    fc.constant("auto"),
    some({ type: fc.constantFrom(...types.tool, "allowed_tools"), name: texts, mode: texts, tools: fc.array(tool) }),
  ),
  parallel_tool_calls: fc.boolean(),
  text: some({
    format: some({ type: fc.constantFrom("text", "json_object"), name: texts, schema: anyValue }, ["type"]),
    verbosity: fc.constantFrom("low", "high"),
  }),
  reasoning: some({ effort: fc.constantFrom("none", "high"), summary: fc.constantFrom("auto", null) }),
  include: fc.array(fc.constantFrom("reasoning.encrypted_content", "message.output_text.logprobs", "x")),
  store: fc.boolean(),
  metadata: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), texts),
  user: texts,
  truncation: fc.constantFrom("auto", "disabled"),
  service_tier: fc.constantFrom("auto", "priority"),
  prompt_cache_key: texts,
  client_metadata: anyValue,
  context_management: anyValue,
  moderation: anyValue,
};

/** Requests for responses, of which some are none. */
export const hostileRequests: fc.Arbitrary<string> = some(members).map((request) =>
  JSON.stringify({ model: "acme/small", input: "Hi", ...request }),
);

function toObject(entries: readonly (readonly [string, unknown])[]): object {
  // As JSON makes it: a member named `__proto__` is one.
  const object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}
