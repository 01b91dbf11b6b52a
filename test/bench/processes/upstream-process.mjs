import { createServer } from "node:net";
import { MessageReader } from "../parts/message-reader.mjs";
import { answerers } from "../parts/upstream-answers.mjs";
import { answerCalls } from "./answer-calls.mjs";

const sockets = new Set();
let answer;

const server = createServer({ noDelay: true }, (socket) => {
  sockets.add(socket);
  const reader = new MessageReader({ onHead() {}, onBody() {}, onEnd: () => answer(socket) });
  socket.on("data", (bytes) => reader.read(bytes));
  // Clients that leave in the middle are part of the work.
  socket.on("error", () => {});
  socket.on("close", () => sockets.delete(socket));
});

answerCalls({
  /** @param argument - `kind`: one of {@link answerers}. */
  listen({ kind }) {
    answer = answerers[kind]();
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: "127.0.0.1", port: 0, backlog: 1024 }, () => resolve(server.address().port));
    });
  },
  connections: () => sockets.size,
});
