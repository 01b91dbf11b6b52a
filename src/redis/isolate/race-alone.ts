import { TimeLimitError } from "../../guard/time-limit.js";

/**
 * Settles as the promise does, by a timer of its own.
 * @throws TimeLimitError when that takes longer than `ms` milliseconds. A later result is ignored.
 */
export function raceAlone<Answer>(ms: number, answer: PromiseLike<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeLimitError(`There was no response in time (${ms} ms).`)), ms);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
