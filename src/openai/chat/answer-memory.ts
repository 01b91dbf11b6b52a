import { asBuffer } from "../../wire/as-buffer.js";
import type { ModelAnswer, ReceivedAnswer } from "../model-answer.js";
import { AnswerTemplate } from "./answer-template.js";

/** Models take turns between a text and calls of one or two tools. */
const mostTemplates = 3;

/** To learn takes longer than to parse, and is in vain where no answer is like another. */
const answersPerLesson = 16;

/** After so many answers in a row that were like none before, it looks at a few of as many. */
const patience = 64;
const fewAnswers = 4;

/** What the whole chat completions of one target look like. */
export class AnswerMemory {
  /** The one that matched last comes first. */
  readonly #templates: AnswerTemplate[] = [];
  #sinceLesson = answersPerLesson;
  /** How many answers in a row were like none before. */
  #unlike = 0;

  /**
   * What the client gets for an answer like one that was learned.
   * @param model - as the client named it.
   * @returns `undefined` for any other.
   */
  pass({ bytes }: ReceivedAnswer, model: string): ModelAnswer | undefined {
    this.#sinceLesson++;
    const templates = this.#templates;
    if (templates.length === 0 || !this.#isLooking) return this.#miss();
    const buffer = asBuffer(bytes);
    const text = buffer.toString("latin1");
    for (let index = 0; index < templates.length; index++) {
      const template = templates[index] as AnswerTemplate;
      const answer = template.pass(buffer, text, model);
      if (answer === undefined) continue;
      if (index > 0) this.#putFirst(template, index);
      this.#unlike = 0;
      return answer;
    }
    return this.#miss();
  }

  /**
   * Learns an answer that {@link pass} did not know, unless it has learned one not long ago.
   * @param model - as the client named it.
   */
  learn(answer: ReceivedAnswer, model: string): void {
    if (this.#sinceLesson < answersPerLesson || !this.#isLooking) return;
    this.#sinceLesson = 0;
    const template = AnswerTemplate.learn(answer, model);
    if (template !== undefined) this.#putFirst(template, mostTemplates - 1);
  }

  get #isLooking(): boolean {
    return this.#unlike < patience || this.#unlike % patience < fewAnswers;
  }

  #miss(): undefined {
    this.#unlike++;
    return undefined;
  }

  /** Takes the place of the one at `index`, if there is one. */
  #putFirst(template: AnswerTemplate, index: number): void {
    this.#templates.splice(index, 1);
    this.#templates.unshift(template);
  }
}
