import { Server } from "node:net";

/** Its server begins to listen when it is imported, on a port from the command line, and on all interfaces. */
export function start() {
  return new Promise((resolve, reject) => {
    const listen = Server.prototype.listen;
    Server.prototype.listen = function (_port, ...rest) {
      const callback = rest.find((argument) => typeof argument === "function");
      return listen.call(this, { host: "127.0.0.1", port: 0, backlog: 1024 }, () => {
        callback?.call(this);
        resolve(this.address().port);
      });
    };
    process.argv.push("--headless", "--port=8787");
    import("@portkey-ai/gateway/build/start-server.js").catch(reject);
  });
}
