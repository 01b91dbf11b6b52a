/** Loopback only, on a free port. */
export function listenOnLoopback(server) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0, backlog: 1024 }, () => resolve(server.address().port));
  });
}
