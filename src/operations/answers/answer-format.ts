/** A text of a model's answer. */
export interface AnswerText {
  /**
   * Where it stands in the answer's JSON, such as `choices[0].message.content`, `output[1].arguments` or
   * `content[0].input.query`. A stream's texts have the paths of the whole answer that the stream amounts to.
   */
  readonly path: string;
  readonly text: string;
}

/** The members of an answer, or of an event of its stream. */
export type AnswerJson = Readonly<Record<string, unknown>>;

/** An answer as its client reads it. */
export interface ReadAnswer {
  /** All that the model has written: texts, thoughts, refusals, names and arguments of tools. */
  readonly texts: readonly AnswerText[];
  /** Why it ended, as the client's API names it; one for each choice. */
  readonly finishReasons: readonly string[];
  /** The whole answer, or what is known of it from a stream: a refused one keeps its id, model and usage. */
  readonly json: AnswerJson;
}

/** How the answers of one operation are read and refused. It knows the client's API only, whatever the upstream speaks. */
export interface AnswerFormat {
  readWhole(json: AnswerJson): ReadAnswer;
  /** @param events - the JSON of each event, in their order. */
  readStream(events: readonly AnswerJson[]): ReadAnswer;
  /** The texts that one event of a stream adds to those of the events before it. A text that grows keeps its path. */
  addedBy(event: AnswerJson): readonly AnswerText[];
  /**
   * The answer that its client gets in place of a refused one. Of that it has the id, the model and the usage, and no text.
   * @param words - for the client, in place of the answer's texts.
   */
  refused(json: AnswerJson, words: string): AnswerJson;
  /** A refused answer as a whole stream. */
  toStream(refused: AnswerJson): Uint8Array;
}
