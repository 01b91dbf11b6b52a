/** The key of an account by its number. All are of one length. */
export function benchKey(account) {
  return `sk-bench-${String(account).padStart(16, "0")}`;
}

/** What the clients ask for. The gateway knows it by this name, the upstream by another. */
export const model = "bench/small";
export const upstreamModel = "gpt-4o-mini-2024-07-18";

const completion = { id: "chatcmpl-BenchBenchBenchBenchBench0", created: 1_750_000_000, model: upstreamModel };
const usage = usageOf(212, 200);
const sentence = "The quick brown fox jumps over the lazy dog, and nobody minds it at all. ";
const nonASCIISentence =
  'Größe, naïveté, 東京 and Ελλάδα: "quoted", tabbed\tand broken\ninto lines; then plain words again. ';
/** As models give them: short, some with an escape, some not ASCII. */
const tokens = [
  " the",
  " quick",
  "\n",
  " brown",
  ' "fox"',
  " jumps",
  " over",
  " größer",
  ",",
  " lazy",
  " dog",
  " 東京",
  ".",
];

/** @param options - `bytes` the size to reach, `nonASCII` text in the messages, `stream` a streamed answer. */
export function requestBody({ bytes, nonASCII = false, stream = false }) {
  const build = (text) =>
    JSON.stringify({
      model,
      messages: [
        { role: "system", content: "You are a helpful assistant. Answer briefly, and say so when you do not know." },
        { role: "user", content: text },
      ],
      temperature: 0.7,
      max_tokens: 256,
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
      user: "user-7f3a",
    });
  return Buffer.from(build(fill(nonASCII ? nonASCIISentence : sentence, bytes - Buffer.byteLength(build("")))));
}

/** Answers of about so many bytes, that differ from each other as those of a model do. */
export function wholeAnswers({ bytes, count }) {
  return Array.from({ length: count }, (_, index) => {
    const answer = {
      ...completion,
      id: `chatcmpl-Bench${String(index * 7919).padStart(24, "0")}`,
      created: completion.created + index,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "", refusal: null },
          logprobs: null,
          finish_reason: index % 9 === 8 ? "length" : "stop",
        },
      ],
      usage: usageOf(100 + ((index * 31) % 400), 150 + ((index * 17) % 100)),
      service_tier: "default",
      system_fingerprint: `fp_012345678${index % 2}`,
    };
    const text = sentence.slice(index % sentence.length) + sentence.slice(0, index % sentence.length);
    answer.choices[0].message.content = fill(text, bytes - Buffer.byteLength(JSON.stringify(answer)) - (index % 7));
    return Buffer.from(JSON.stringify(answer));
  });
}

/** The events of a stream, each with its blank line: the role, the text, then what ends it. */
export const streamEvents = {
  first: event({ role: "assistant", content: "", refusal: null }),
  text: tokens.map((content) => event({ content })),
  last: [
    event({}, { finish: "stop" }),
    Buffer.from(`data: ${JSON.stringify({ ...completion, object: chunk(), choices: [], usage })}\n\n`),
    Buffer.from("data: [DONE]\n\n"),
  ],
};

function event(delta, { finish = null } = {}) {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return Buffer.from(`data: ${JSON.stringify({ ...completion, object: chunk(), choices, usage: null })}\n\n`);
}

function chunk() {
  return "chat.completion.chunk";
}

function usageOf(prompt, completion) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

/** Repeats the text up to so many bytes of JSON; a few bytes short rather than a character cut in two. */
function fill(text, bytes) {
  const encodedBytes = Buffer.byteLength(JSON.stringify(text)) - 2;
  return text.repeat(Math.max(1, Math.floor(bytes / encodedBytes)));
}
