import { it } from "vitest";
import { messagesProperties } from "../../support/translate/messages-properties.js";

const cases = Number(process.env["SOAK_CASES"] ?? 100_000);

/** Some take ten milliseconds a case on a slow machine. */
const timeoutMs = 1_800_000;

it.each(Object.entries(messagesProperties))(`%s, in ${cases} cases`, (_name, property) => property(cases), timeoutMs);
