// Uses the installed package as a host does, and prints what came of it. Plain JavaScript, for `import` and `require`.
const { createServer } = require("node:http");

async function listen(handler) {
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

exports.scenario = async (infergate, entries) => {
  const model = (id, provider) => ({
    id,
    type: "chat",
    contextLength: 1000,
    price: { input: 1, output: 1 },
    upstream: { provider, model: "upstream-model" },
  });
  const upstream = await listen((req, res) => {
    let body = "";
    req.setEncoding("utf8").on("data", (text) => {
      body += text;
    });
    req.on("end", () => {
      if (JSON.parse(body).stream === true) {
        res.setHeader("content-type", "text/event-stream");
        const chunk = (choices, usage) =>
          `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "upstream-model", choices, usage })}\n\n`;
        res.write(chunk([{ index: 0, delta: { role: "assistant", content: "hel" }, finish_reason: null }]));
        res.write(chunk([{ index: 0, delta: { content: "lo" }, finish_reason: null }]));
        res.write(chunk([{ index: 0, delta: {}, finish_reason: "stop" }]));
        res.write(chunk([], { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }));
        res.end("data: [DONE]\n\n");
        return;
      }
      res.setHeader("content-type", "application/json");
      res.end(
        JSON.stringify({
          id: "chatcmpl-1",
          object: "chat.completion",
          created: 1,
          model: "upstream-model",
          choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
        }),
      );
    });
  });
  const gone = await listen(() => {});
  gone.server.close();

  const warnings = [];
  const gateway = infergate.createGateway({
    models: [model("acme/small", "upstream"), model("acme/gone", "gone")],
    keys: infergate.memoryKeyStore([{ key: "sk-test", account: "acct_1", plan: "pro" }]),
    plans: infergate.memoryPlanStore({ pro: { models: ["*"], credits: { session: 100 } } }),
    ledger: infergate.memoryCreditLedger(),
    providers: {
      upstream: infergate.openAICompatible({ baseURL: `${upstream.url}/v1` }),
      gone: infergate.openAICompatible({ baseURL: `${gone.url}/v1` }),
    },
    maxBodyBytes: 1000,
    onWarning: ({ code }) => warnings.push(code),
  });
  const host = await listen(entries.toNodeHandler(gateway));

  const send = (body) =>
    fetch(`${host.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer sk-test", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const chat = async (name, content = "hi") => {
    const response = await send({ model: name, messages: [{ role: "user", content }] });
    const body = await response.json();
    return [response.status, body.error?.code ?? body.choices[0].message.content];
  };
  const stream = async (name) => {
    const response = await send({ model: name, messages: [{ role: "user", content: "hi" }], stream: true });
    const events = (await response.text())
      .trimEnd()
      .split("\n\n")
      .map((event) => event.replace(/^data: /, ""));
    const chunks = events.filter((data) => data !== "[DONE]").map((data) => JSON.parse(data));
    return [
      response.status,
      response.headers.get("content-type")?.split(";")[0],
      chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""),
      events.at(-1) === "[DONE]",
    ];
  };
  const results = {
    adapters: [entries.toExpressHandler(gateway), entries.toFastifyPlugin(gateway)].map((adapter) => typeof adapter),
    routes: Object.keys(entries.toRouteHandlers(gateway)),
    fetch: (await entries.toFetchHandler(gateway)(new Request("http://host/healthz"))).status,
    health: await (await fetch(`${host.url}/healthz`)).json(),
    answered: await chat("acme/small"),
    streamed: await stream("acme/small"),
    // These go by the class of an error that one entry throws and another catches.
    tooLarge: await chat("acme/small", "x".repeat(2000)),
    unreachable: await chat("acme/gone"),
    warnings,
  };
  await gateway.close();
  host.server.close();
  upstream.server.close();
  console.log(JSON.stringify(results));
};
