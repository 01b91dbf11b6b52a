import type { PartWatch } from "../../model-api/prompt/message-outline.js";
import { typeAt } from "../../model-api/tables/odd-places.js";
import { absent } from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import { chatTable } from "./chat-table.js";

/** Of one part: far more than any has. */
const mostMembers = 1000;

const files = ["file", "image_url", "video_url", "audio_url"] as const;
const inPart = new MemberSearch(files, mostMembers);

/** Notes the parts of a chat completion's messages that do not simply pass. */
export const watchChatParts: PartWatch = {
  table: chatTable,
  read({ body, leaps, places }, { start }, type, path) {
    const name = type === undefined ? undefined : typeAt(body, type.start, type.end);
    if (name !== undefined) places.note("block", name, path);
    if (name === "text" || inPart.run(body, start, leaps) !== undefined) return 0;
    for (const [place, file] of Array.from(inPart.starts).entries()) {
      if (file !== absent) places.noteFile(body, file, leaps, () => `${path()}.${files[place]}`);
    }
    return 0;
  },
};
