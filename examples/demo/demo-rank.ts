import type { Model, UpstreamCall, UpstreamProvider } from "infergate";

/** What `demoRank` sorts, with what that costs: credits per thousand searches. */
export const rankModel: Model = {
  ...{ id: "acme/rank", type: "rerank", price: { searches: 20 } },
  upstream: { provider: "rank", model: "demo-rank" },
};

/** A server that ranks documents without a server: the more words of the query one has, the better it fits. */
export function demoRank(): UpstreamProvider {
  return {
    operations: ["rerank"],
    async call({ body }: UpstreamCall) {
      const { query, documents } = JSON.parse(Buffer.from(body).toString()) as { query: string; documents: string[] };
      const asked = wordsOf(query);
      const results = documents.map((text, index) => {
        const words = wordsOf(text);
        const shared = [...words].filter((word) => asked.has(word)).length;
        return { index, relevance_score: shared / Math.max(1, asked.size) };
      });
      const json = JSON.stringify({ results, meta: { billed_units: { search_units: 1 } } });
      return { status: 200, headers: { "content-type": "application/json" }, body: once(json) };
    },
  };
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{L}+/gu));
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
