import { ProtocolTable } from "../../model-api/tables/protocol-table.js";

/** What a request for a moderation may hold. */
export const moderationsTable = new ProtocolTable(
  {
    protocol: "moderations",
    reference: 'OpenAI, "Create moderation" (openai 7.59.0)',
    date: "2026-11-29",
    own: [],
  },
  [
    { place: "member", treatment: "passes", names: ["model", "input", "user", "metadata", "safety_identifier"] },
    { place: "block", treatment: "passes", names: ["text", "image_url"] },
    { place: "open member", treatment: "passes", names: ["metadata"] },
    { place: "inner member", treatment: "passes", names: ["image_url"] },
    {
      place: "source",
      treatment: "refused",
      names: ["file_id"],
      why: "names a file in the operator's account, which all clients share",
      advice: "Send the image itself as a data URL.",
    },
  ],
);
