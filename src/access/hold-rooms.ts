import { HoldRoom } from "./hold-room.js";

const mostAccounts = 10_000;

/** The {@link HoldRoom} of each account: all its keys and models share it, as they share its credits. */
export class HoldRooms {
  readonly #byAccount = new Map<string, HoldRoom>();

  of(account: string): HoldRoom {
    const known = this.#byAccount.get(account);
    if (known !== undefined) return known;
    // An account that is forgotten has its next prompt counted.
    if (this.#byAccount.size >= mostAccounts) this.#byAccount.clear();
    const room = new HoldRoom();
    this.#byAccount.set(account, room);
    return room;
  }
}
