/** A part of a message. Types are those of OpenTelemetry's conventions for GenAI. */
export type ContentPart =
  | { type: "text" | "reasoning"; content: string }
  /** `arguments` as the model wrote them, JSON as a rule. */
  | { type: "tool_call"; id?: string; name?: string; arguments?: string }
  | { type: "tool_call_response"; id?: string; response: string }
  /** A file. Nothing of it is kept. */
  | { type: "blob"; modality: string };

/** A message of a call. */
export interface ContentMessage {
  role: string;
  parts: ContentPart[];
}

/** What a call was asked and answered, in the same words for all protocols. It is JSON. */
export interface CallContent {
  /** Instructions that the client sent beside its messages. */
  system?: ContentPart[];
  input?: ContentMessage[];
  /** One message for each choice. */
  output?: ContentMessage[];
}
