import type { z } from "zod";
import { checkInput } from "../../check/check-input.js";
import { InputError } from "../../check/input-error.js";

/**
 * Checks what a method is called with that takes the account first. An account among the rest would be a second one.
 * @throws TypeError as {@link checkInput}.
 */
export function checkAccountInput<Schema extends z.ZodObject>(
  by: string,
  schema: Schema,
  account: string,
  given: object,
): z.output<Schema> {
  if ((given as { account?: unknown } | null)?.account !== undefined) {
    throw new InputError(`${by}: There is no member \`account\`: the account is the first argument.`);
  }
  return checkInput(by, schema, { ...given, account });
}
