import { GatewayError } from "../../errors/gateway-error.js";
import { memberOf } from "../../wire/json-members.js";
import type { JsonRequest } from "../request/json-request.js";
import type { ProtocolTable, Row } from "./protocol-table.js";

/** The members of a table that are refused whatever the options say, unless they are `null`. */
export class RefusedMembers {
  readonly names: readonly string[];
  readonly #rows: readonly Row[];

  constructor({ rows }: ProtocolTable) {
    this.#rows = rows.filter(({ place, always }) => place === "member" && always === true);
    this.names = this.#rows.flatMap(({ names }) => names);
  }

  /** @throws GatewayError 400 */
  refuse({ body, members }: JsonRequest): void {
    for (const { names, why, advice } of this.#rows) {
      for (const name of names) {
        const member = memberOf(members, name);
        if (member === undefined || body[member.start] === 0x6e) continue;
        const reason = why === undefined ? "" : `: it ${why}`;
        throw new GatewayError(`'${name}' cannot be set here${reason}. ${advice}`, {
          status: 400,
          code: "unsupported_parameter",
          param: name,
        });
      }
    }
  }
}
