import type { GatewayWarning, RequestCompleted } from "infergate";

/** What a client needs to know of the running example. */
interface Access {
  baseURL: string;
  apiKey: string;
  model: string;
  /** Models that draw, speak, hear and rank. */
  media?: { image: string; speech: string; transcription: string; rerank: string };
  /** Whether what is used outlives the process. */
  lasting?: boolean;
  /** Where pages for browsers are. */
  pages?: { account: string; operator: string };
}

/** Prints what a newcomer can do with the running server. Every command works as printed. */
export function printWelcome({ baseURL, apiKey, model, media, lasting = false, pages }: Access): void {
  const messages = [{ role: "user", content: "Hello!" }];
  const curl = (flags: string, members: object = {}) =>
    `curl${flags} ${baseURL}/chat/completions -H "Authorization: Bearer ${apiKey}" ` +
    `-H "Content-Type: application/json" -d '${JSON.stringify({ model, messages, ...members })}'`;
  const post = (path: string, body: object) =>
    `curl -s ${baseURL}/${path} -H "Authorization: Bearer ${apiKey}" ` +
    `-H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
  console.log(`
  Base URL   ${baseURL}
  API key    ${apiKey}
${pages === undefined ? "" : toPages(pages)}
Ask the model:

  ${curl("")}

Watch it stream:

  ${curl(" -N", { stream: true })}

With the OpenAI SDK (npm install openai):

  import OpenAI from "openai";
  const client = new OpenAI({ baseURL: "${baseURL}", apiKey: "${apiKey}" });
  const answer = await client.chat.completions.create({
    model: "${model}",
    messages: [{ role: "user", content: "Hello!" }],
  });
  console.log(answer.choices[0].message.content);

The same model for clients of Anthropic's Messages and of OpenAI's Responses:

  curl ${baseURL}/messages -H "x-api-key: ${apiKey}" -H "Content-Type: application/json" -d '${JSON.stringify({ model, max_tokens: 100, messages })}'
  curl ${baseURL}/responses -H "Authorization: Bearer ${apiKey}" -H "Content-Type: application/json" -d '${JSON.stringify({ model, input: "Hello!" })}'
${media === undefined ? "" : toMedia(media, post, `curl -s ${baseURL}/audio/transcriptions -H "Authorization: Bearer ${apiKey}"`)}
Use up the session's stock, and see the 429 with its headers; ${lasting ? "it is kept across restarts" : "a restart fills it again"}:

  for i in $(seq 12); do ${curl(" -s -o /dev/null -w '%{http_code}\\n'")}; done
  ${curl(" -i")}

Ctrl-C ends it. Requests:
`);
}

function toMedia(
  { image, speech, transcription, rerank }: NonNullable<Access["media"]>,
  post: (path: string, body: object) => string,
  transcribe: string,
): string {
  const picture = post("images/generations", { model: image, prompt: "A boat at sunset" });
  const sentence = post("audio/speech", { model: speech, voice: "alloy", response_format: "wav", input: "Hello!" });
  const query = "Which city is the capital of France?";
  const documents = ["Lyon is a city of silk.", "Paris is the capital of France."];
  return `
Draw a picture, speak a sentence, and have it written down again:

  ${picture} | sed 's/.*"b64_json":"\\([^"]*\\).*/\\1/' | base64 -d > picture.png
  ${sentence} > sentence.wav
  ${transcribe} -F model=${transcription} -F file=@sentence.wav

Sort documents by how well they fit a question:

  ${post("rerank", { model: rerank, query, documents })}
`;
}

function toPages({ account, operator }: NonNullable<Access["pages"]>): string {
  return `
  Your user's page   ${account}
  Your own page      ${operator}

On this machine alone, the demo signs you in on both: as a user, and as the operator.
`;
}

/** One line per request: what was asked, what it came to, what it cost. */
export function logRequest(event: RequestCompleted, ...more: string[]): void {
  const { status, model, endpoint, errorCode, tokens, chargedMicro, usageSource, durations } = event;
  const credits = (chargedMicro / 1_000_000).toFixed(6);
  const parts = [
    String(status),
    model ?? endpoint ?? "unknown path",
    errorCode,
    usageSource && usedBy(tokens),
    usageSource && `${credits} credits`,
    `${Math.round(durations.total)} ms`,
    ...more,
  ];
  console.log(`  ${parts.filter((part) => part !== undefined).join("  ")}`);
}

function usedBy({ input, output, images = [], ...used }: RequestCompleted["tokens"]): string {
  const { characters = 0, audioMs = 0, searches = 0 } = used;
  const pictures = images.reduce((sum, { count }) => sum + count, 0);
  if (pictures > 0) return pictures === 1 ? "1 image" : `${pictures} images`;
  if (characters > 0) return `${characters} characters`;
  if (audioMs > 0) return `${audioMs / 1000} s of sound`;
  if (searches > 0) return searches === 1 ? "1 search" : `${searches} searches`;
  return `${input} + ${output} tokens`;
}

export function logWarning({ code, message }: GatewayWarning): void {
  console.log(`  ${code}: ${message}`);
}

/** The port is taken, more often than not. */
export function refuseToStart(error: Error): never {
  console.error(`Cannot listen: ${error.message}. Set PORT to another port.`);
  process.exit(1);
}
