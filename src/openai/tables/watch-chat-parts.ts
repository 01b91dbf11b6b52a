import type { PartWatch } from "../../model-api/prompt/message-outline.js";
import { typeAt } from "../../model-api/tables/odd-places.js";
import { absent } from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import { chatTable } from "./chat-table.js";

/** Of one part: far more than any has. */
const mostMembers = 1000;

const inPart = new MemberSearch(["file"], mostMembers);

/** Notes the parts of a chat completion's messages that do not simply pass. */
export const watchChatParts: PartWatch = {
  table: chatTable,
  read({ body, leaps, places }, { start }, type, path) {
    const name = type === undefined ? undefined : typeAt(body, type.start, type.end);
    if (name !== undefined) places.note("block", name, path);
    if (name === "image_url" || inPart.run(body, start, leaps) !== undefined) return 0;
    const file = inPart.starts[0] ?? absent;
    if (file !== absent) places.noteFile(body, file, leaps, () => `${path()}.file`);
    return 0;
  },
};
