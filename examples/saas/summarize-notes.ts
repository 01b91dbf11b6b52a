import OpenAI from "openai";
import { database } from "./database.js";
import { gateway } from "./gateway.js";

/** Summarizes each note that has no summary, at its user's expense. */
export async function summarizeNotes(): Promise<{ summarized: number; failed: number }> {
  const waiting = await database.selectFrom("note").selectAll().where("summary", "is", null).execute();
  let failed = 0;
  for (const { id, userId, text } of waiting) {
    try {
      await database
        .updateTable("note")
        .set({ summary: await summarize(userId, text) })
        .where("id", "=", id)
        .execute();
    } catch (error) {
      // Such as a user without credits, or one who is suspended. The next night tries again.
      failed += 1;
      console.error(`  Note ${id} has no summary: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { summarized: waiting.length - failed, failed };
}

async function summarize(account: string, text: string): Promise<string> {
  const { baseURL, fetch } = gateway.as({ account, key: "summaries", tags: { feature: "summaries" } });
  const openai = new OpenAI({ baseURL, fetch, apiKey: "none" });
  const { choices } = await openai.chat.completions.create({
    model: "acme/small",
    messages: [
      { role: "system", content: "Summarize the note in one sentence." },
      { role: "user", content: text },
    ],
  });
  return choices[0]?.message.content ?? "";
}

/** Summarizes every night at three o'clock UTC. The process need not stay for it. */
export function summarizeNightly(): void {
  const next = new Date();
  next.setUTCHours(3, 0, 0, 0);
  if (next.getTime() <= Date.now()) next.setUTCDate(next.getUTCDate() + 1);
  const timer = setTimeout(() => void summarizeNotes().finally(summarizeNightly), next.getTime() - Date.now());
  timer.unref();
}
