import { toAnswer } from "./answer.js";

/** The part of Bun that is called here. */
declare const Bun: {
  env: Readonly<Record<string, string>>;
  serve(options: object): { readonly port: number };
};

const fetch = toAnswer(Bun.env["CONFIG"] ?? "");
const { port } = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch });
console.log(`port ${port}`);
