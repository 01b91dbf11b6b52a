import type { RequestCompleted } from "infergate";
import { demoKey, demoModelId } from "../gateway.js";

/** Prints what a newcomer can do with the running server. Every command works as printed. */
export function printWelcome(origin: string): void {
  const body = (stream: boolean) =>
    JSON.stringify({
      model: demoModelId,
      messages: [{ role: "user", content: "Hello!" }],
      ...(stream ? { stream } : {}),
    });
  const curl = (flags: string, stream: boolean) =>
    `curl ${flags} ${origin}/v1/chat/completions -H "Authorization: Bearer ${demoKey}" -H "Content-Type: application/json" -d '${body(stream)}'`;
  console.log(`infergate is mounted in Express.

  Base URL   ${origin}/v1
  API key    ${demoKey}

Ask the model:

  ${curl("-s", false)}

Watch it stream:

  ${curl("-sN", true)}

With the OpenAI SDK (npm install openai):

  import OpenAI from "openai";
  const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "${demoKey}" });
  const answer = await client.chat.completions.create({
    model: "${demoModelId}",
    messages: [{ role: "user", content: "Hello!" }],
  });
  console.log(answer.choices[0].message.content);

The plan has 4 credits for a session. Use them up and see the 429 with its headers:

  for i in $(seq 15); do ${curl("-s -o /dev/null -w '%{http_code}\\n'", false)}; done
  ${curl("-si", false)}

Completed requests:
`);
}

/** One line per request: what was asked, what it came to, what it cost. */
export function logRequest(event: RequestCompleted): void {
  const { status, model, endpoint, tokens, chargedMicro, durations, errorCode } = event;
  const cost = (chargedMicro / 1_000_000).toFixed(6);
  const parts = [
    String(status),
    endpoint ?? "",
    model ?? "",
    `${tokens.input} + ${tokens.output} tokens`,
    `${cost} credits`,
    `${Math.round(durations.total)} ms`,
    errorCode ?? "",
  ];
  console.log(`  ${parts.filter((part) => part !== "").join("  ")}`);
}
