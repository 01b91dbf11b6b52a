import { Buffer } from "node:buffer";
import { absent, type JsonMember, startsWith } from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import type { JsonRequest } from "./json-request.js";

/** Far more options than any template has. */
const mostOptions = 64;

/** Options of a template that some servers read as if they were members of the request. */
const options = ["chat_template", "tokenize"];

const search = new MemberSearch(options, mostOptions);

const nothing = Buffer.from("null");

/** The path of the option that replaces the template, or its output. */
export function templateOption({ body, leaps }: JsonRequest, { name, start }: JsonMember): string | undefined {
  if (body[start] !== 0x7b) return undefined;
  const fault = search.run(body, start, leaps);
  if (fault !== undefined) return fault.reason === "too_many" ? name : `${name}.${fault.name}`;
  for (const [place, option] of options.entries()) {
    const value = search.starts[place] ?? absent;
    if (value >= 0 && !startsWith(body, value, nothing)) return `${name}.${option}`;
  }
  return undefined;
}
