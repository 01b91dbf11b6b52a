import { toAnswer } from "./answer.js";

/** The part of Deno that is called here. */
declare const Deno: {
  env: { get(name: string): string | undefined };
  serve(options: object, handler: (request: Request) => Promise<Response>): unknown;
};

const onListen = ({ port }: { port: number }) => console.log(`port ${port}`);
Deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, toAnswer(Deno.env.get("CONFIG") ?? ""));
