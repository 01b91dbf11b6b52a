import { ProtocolTable, words } from "../../model-api/tables/protocol-table.js";

/** What a request to rank documents may hold. OpenAI has no such API: its servers follow Cohere's. */
export const rerankTable = new ProtocolTable(
  {
    protocol: "rerank",
    reference: 'Cohere, "Rerank" v2 and v1 (cohere-ai 8.1.0), Jina, Voyage, vLLM, llama.cpp, Infinity, TEI and LocalAI',
    date: "2026-11-23",
    own: [],
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model query documents top_n return_documents rank_fields max_tokens_per_doc max_chunks_per_doc truncate truncation
        truncate_prompt_tokens raw_scores user`),
    },
    { place: "open member", treatment: "passes", names: words("query documents") },
    { place: "member", treatment: "refused", always: true, names: ["texts"], advice: "Send 'documents'." },
    { place: "member", treatment: "refused", always: true, names: ["top_k"], advice: "Send 'top_n'." },
  ],
);
