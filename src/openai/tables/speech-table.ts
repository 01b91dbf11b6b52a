import { ProtocolTable, words } from "../../model-api/tables/protocol-table.js";

/** What a request for speech may hold, at OpenAI and at the servers that speak its API. */
export const speechTable = new ProtocolTable(
  {
    protocol: "audio/speech",
    reference: 'OpenAI, "Create speech" (openai 7.59.0), and the servers that speak it',
    date: "2026-11-29",
    // How fast the voice speaks, and no place in a queue.
    own: ["speed"],
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model input voice instructions response_format speed stream_format user metadata safety_identifier
        language lang_code sample_rate ref_audio ref_text volume_multiplier seed temperature`),
    },
    { place: "open member", treatment: "passes", names: ["metadata"] },
  ],
);
