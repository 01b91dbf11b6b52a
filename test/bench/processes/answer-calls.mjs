/** The child's side of child.mjs: `handlers` are called by name, what they return goes back. */
export function answerCalls(handlers) {
  process.on("message", async ({ id, name, argument }) => {
    try {
      process.send({ id, result: await handlers[name](argument) });
    } catch (error) {
      process.send({ id, error: String(error?.stack ?? error) });
    }
  });
  // The parent has gone, however that came about.
  process.on("disconnect", () => process.exit());
  // Ctrl-C reaches the whole group; the parent ends us in its own order.
  process.on("SIGINT", () => {});
}
