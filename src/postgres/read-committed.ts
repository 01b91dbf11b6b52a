import type { Database } from "./database.js";
import { isTransient, sqlState } from "./retry-transient.js";

const serializationFailure = "40001";
const isOther = (code: string) => code !== serializationFailure && isTransient(code);

/**
 * Runs statements in READ COMMITTED transactions, whatever the default is: there, those that change an account wait for each
 * other; in a stricter one all but one of them fail. Most databases have that default, so it is not set until a statement
 * has failed for the lack of it.
 */
export class ReadCommitted {
  readonly #database: Database;
  #isToBeSet = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param plain - a statement that returns its rows.
   * @param procedure - the call of a procedure that sets the isolation, and returns the same rows in one array.
   */
  async query<Row>(plain: string, procedure: string, values: (string | number | null)[]): Promise<Row[]> {
    if (!this.#isToBeSet) {
      try {
        return await this.#database.query<Row>(plain, values, isOther);
      } catch (error) {
        if (sqlState(error) !== serializationFailure) throw error;
        this.#isToBeSet = true;
      }
    }
    return this.#database.call<Row>(procedure, values);
  }
}
