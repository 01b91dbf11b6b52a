import { invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { type JsonRequest, readMember } from "./json-request.js";

type Fields = Pick<JsonRequest, "body" | "members">;

/** A field that comes once. @throws GatewayError 400 where it is longer than any that the gateway reads. */
export function readField(request: Fields, name: string): string | undefined {
  const value = readMember(request, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalidType(name, "a short text");
  return value;
}

/** @throws GatewayError 400 when the field is missing, or empty. */
export function requireField(request: Fields, name: string): string {
  const value = readField(request, name);
  if (value === undefined) throw missingParameter(name);
  if (value === "") throw invalidValue(name, `'${name}' must not be empty.`);
  return value;
}

/** Servers differ in what else they take for true: a stream would come where none is expected. */
export function readFlag(request: Fields, name: string): boolean {
  const value = readField(request, name);
  if (value === undefined || value === "false") return false;
  if (value === "true") return true;
  throw invalidValue(name, `'${name}' must be 'true' or 'false'.`);
}

/** What a field with a number may be. */
export interface DecimalBounds {
  readonly least: number;
  readonly most: number;
  /** Of what is above 0. Default: any. */
  readonly smallest?: number;
}

/** Some servers fail at what is no number, as if it were their own fault. @throws GatewayError 400 */
export function requireDecimal(request: Fields, name: string, { least, most, smallest = 0 }: DecimalBounds): void {
  const value = readField(request, name);
  if (value === undefined) return;
  // What is closer to 0 is out of range for a `float`.
  if (!/^-?(\d{1,9}(\.\d{0,20})?|\.\d{1,20})(e[+-]?0?\d)?$/i.test(value)) throw invalidType(name, "a number");
  const number = Number(value);
  if (number < least || number > most) throw invalidValue(name, `'${name}' must be ${least} to ${most}.`);
  if (number > 0 && number < smallest) throw invalidValue(name, `'${name}' must be 0, or ${smallest} to ${most}.`);
}

/** A number of plain digits. @throws GatewayError 400 */
export function readNumber(request: Fields, name: string, least: number, most: number): number | undefined {
  const value = readField(request, name);
  if (value === undefined) return undefined;
  if (!/^(0|[1-9][0-9]{0,8})$/.test(value)) throw invalidType(name, "an integer of plain digits");
  const count = Number(value);
  if (count < least || count > most) throw invalidValue(name, `'${name}' must be ${least} to ${most}.`);
  return count;
}
